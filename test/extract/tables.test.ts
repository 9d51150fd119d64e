import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { extractPage } from "../../src/extract/page.ts";
import { compilePlan } from "../../src/extract/plan.ts";
import { markdownOf, seenIn, seenInMarkdown } from "./read-back.ts";

function tablesOf(body: string): unknown {
  const { records } = extractPage({ body, contentType: "text/html", url: null }, compilePlan({ fields: ["tables"] }));
  return records[0]?.["tables"];
}

const HEAD = "| a | b |\n| --- | --- |\n";

describe("tables as Markdown", () => {
  const TABLES: Record<string, [html: string, markdown: string]> = {
    "cells over several rows": [
      "<table><tr><th>a<th>b<tr><td rowspan=2>1<td>2<tr><td>3</table>",
      `${HEAD}| 1 | 2 |\n|  | 3 |`,
    ],
    "cells over several columns": [
      "<table><tr><th>a<th>b<th>c<tr><td colspan=2>1<td>2</table>",
      "| a | b | c |\n| --- | --- | --- |\n| 1 |  | 2 |",
    ],
    "columns that only wide cells reach into": [
      "<table><tr><th colspan=2>a<th>b<tr><td colspan=2>1<td>2</table>",
      `${HEAD}| 1 | 2 |`,
    ],
    "a cell down to the end of its part": [
      "<table><thead><tr><th>a<th>b<tbody><tr><td rowspan=0>1<td>2<tr><td>3<tbody><tr><td>4<td>5</table>",
      `${HEAD}| 1 | 2 |\n|  | 3 |\n| 4 | 5 |`,
    ],
    "bars, in text, code and addresses": [
      "<table><tr><th>a<th>b<tr><td>x|y <code>x|y</code> <code>x\\|y</code><td><a href='/?a|b'>c</a></table>",
      `${HEAD}| x\\|y \`x\\|y\` <code>x&#92;&#124;y</code> | [c](https://site.example/?a\\|b) |`,
    ],
    "lists, lines and paragraphs in cells": [
      "<table><tr><th>a<th>b<tr><td><ul><li>1<li>2</ul><td><p>3</p><p>4<br>5</table>",
      `${HEAD}| 1<br>2 | 3<br>4<br>5 |`,
    ],
    "code in cells": [
      "<table><tr><th>a<th>b<tr><td><pre>if x:\n  y|z</pre><td>2</table>",
      `${HEAD}| \`if x:\`<br>\`  y\\|z\` | 2 |`,
    ],
    "a table in a table": [
      "<table><tr><td>x<td><table><tr><th>a<th>b<tr><td>1<td>2</table></table>",
      `x\n\n${HEAD}| 1 | 2 |`,
    ],
    "a table that only places things": ["<table role=presentation><tr><td>a<td>b</table>", "a\n\nb"],
    "a caption": ["<table><caption>T *</caption><tr><th>a<th>b<tr><td>1<td>2</table>", `**T \\***\n\n${HEAD}| 1 | 2 |`],
  };
  for (const [what, [html, markdown]] of Object.entries(TABLES)) {
    test(what, () => {
      assert.equal(markdownOf(html), markdown);
      assert.deepEqual(seenInMarkdown(markdown), seenIn(html));
    });
  }

  test("rows that the page hides are left out", () => {
    const html = "<table><tr><th>a<th>b<tr hidden><td>1<td>2<tr><td>3<td style='display:none'>4</table>";
    assert.equal(markdownOf(html), `${HEAD}| 3 |  |`);
  });
});

describe("tables as a field", () => {
  test("a cell over several rows or columns stands in each of them", () => {
    const html = "<table><tr><th>a<th colspan=2>b<tr><td rowspan=2>1<td>2<td>3<tr><td>4</table>";
    assert.deepEqual(tablesOf(html), [
      [
        ["a", "b", "b"],
        ["1", "2", "3"],
        ["1", "4"],
      ],
    ]);
  });

  test("a table whose cells claim billions of places is read", () => {
    const row = `<tr>${"<td colspan=1000 rowspan=65534>x".repeat(20)}`;
    const [table] = tablesOf(`<table>${row.repeat(200)}</table>`) as string[][][];
    assert.equal(table?.length, 200);
  });
});
