import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { markdownExporter } from "../../src/exporters/markdown.ts";
import { HOSTILE, textOf } from "./records.ts";

/** Lines outside of quotations: the document's own structure, which scraped text must not add to. */
const structure = (text: string) => text.split(/\r\n|\r|\n/).filter((line) => line !== "" && !line.startsWith(">"));

test("no records are said to be none", async () => {
  assert.equal(await textOf(markdownExporter, []), "No results.\n");
});

test("a record is a section: title, address, fields, text", async () => {
  const data = { title: "A Shoe", price: 9.5, sold: null, tags: ["a", "b"], text: "First line.\n\nSecond line." };
  assert.equal(
    await textOf(markdownExporter, [data, { price: 1 }]),
    `## A Shoe

<https://shop.example/item/1>

- **price:** 9.5
- **sold:** –
- **tags:** \` ["a","b"] \`

> First line.
>
> Second line.

## https://shop.example/item/2

<https://shop.example/item/2>

- **price:** 1
`,
  );
});

test("a markdown field is the body, keeps its form and shows its HTML", async () => {
  const markdown =
    "# Inside\n\n- a [link](https://x.example)\n\n<div onclick=x>\n\n```html\n<b>code</b>\n```\n\n[x]: /evil";
  const text = await textOf(markdownExporter, [{ title: "T", markdown, text: "left out" }]);
  assert.ok(text.includes("> # Inside\n>\n> - a [link](https://x.example)\n"), text);
  assert.ok(text.includes("> &lt;div onclick=x>"), text);
  assert.ok(text.includes("> ```html\n> <b>code</b>\n> ```"), text);
  assert.ok(text.includes("> [x]\\: /evil"), text);
  assert.ok(!text.includes("left out"));
});

test("a fence that may end elsewhere than it seems protects no HTML", async () => {
  for (const markdown of ["- ```\n<script>\n", "  ~~~\n<script>", "> ```\n<script>", "1. ~~~\n   x\n\n<script>"]) {
    const text = await textOf(markdownExporter, [{ markdown }]);
    assert.ok(!text.includes("<script>"), text);
  }
  // A fence inside another fence is code.
  const nested = await textOf(markdownExporter, [{ markdown: "~~~\n```\n<i>\n~~~\n<script>" }]);
  assert.ok(nested.includes("<i>") && !nested.includes("<script>"), nested);
});

test("an address that is none is text", async () => {
  const { export: run } = markdownExporter;
  async function* one() {
    yield { id: "1", run_id: "1", task_id: "1", url: "javascript:<b>", data: {}, created_at: "" };
  }
  let text = "";
  for await (const chunk of run(one())) text += new TextDecoder().decode(chunk);
  assert.ok(!text.includes("<b>"), text);
});

test("hostile strings stay in their line, as title, field, name of a field and text", async () => {
  for (const text of HOSTILE) {
    const written = await textOf(markdownExporter, [{ title: text, [text]: text, field: text, text }]);
    for (const line of structure(written)) assert.match(line, /^(## |<https:|- \*\*)/);
    assert.ok(!/(?<!\\)<(?!https:\/\/shop\.example)/.test(written), written.slice(0, 200));
  }
});

test("whatever is scraped, there is one section per record and no HTML outside of code", async () => {
  const pieces = fc.constantFrom(
    "#",
    "\n",
    "\r",
    "<b>",
    "</blockquote>",
    "```",
    "|",
    "-",
    "=",
    ">",
    "[a]:",
    " ",
    "x",
    "\\",
    "`",
  );
  const text = fc.array(pieces, { maxLength: 30 }).map((parts) => parts.join(""));
  const fields = fc.record({ title: text, note: text, text, tags: fc.array(text, { maxLength: 2 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(fields, { maxLength: 4 }), async (data) => {
      const written = await textOf(markdownExporter, data);
      const lines = structure(written);
      assert.equal(lines.filter((line) => line.startsWith("## ")).length, data.length);
      for (const line of lines) assert.match(line, /^(## |<https:|- \*\*|No results\.)/);
      const outsideOfCode = written.replace(/^- \*\*tags:\*\* .*$/gm, "");
      assert.ok(!/(?<!\\)<(?!https:\/\/shop\.example)/.test(outsideOfCode), outsideOfCode);
    }),
  );
});
