import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readingRegions } from "../../src/documents/pdf/columns.ts";
import type { Segment } from "../../src/documents/pdf/pieces.ts";
import { column, pdf } from "../support/pdf-files.ts";
import { readPage } from "./kit.ts";

/** A line of text; `read` is called whenever its position is. */
function lineAt(x: number, y: number, right: number, read = () => {}): Segment {
  const text = "words of a line that is long enough";
  return {
    pieces: [],
    text,
    size: 10,
    isBold: false,
    right,
    get x() {
      read();
      return x;
    },
    get y() {
      read();
      return y;
    },
  };
}

describe("the columns of a PDF page", () => {
  test("a table with wide rows of four long cells, between two paragraphs, keeps its rows", async () => {
    const words = "A line of the paragraph that goes over the whole width of the page, from its left side to its end";
    const paragraph = (top: number) => column(new Array<string>(14).fill(words), { top });
    const rows = Array.from({ length: 7 }, (_row, row) =>
      ["first", "second", "third", "fourth"].map((name) => `The ${name} cell, no. ${row + 1}`),
    );
    const cells = rows.flatMap((row, index) =>
      row.map((text, at) => ({ text, x: 72 + at * 120, y: 576 - index * 24, size: 10 })),
    );
    const { tables, text } = await readPage(pdf([{ texts: [...paragraph(760), ...cells, ...paragraph(400)] }]));
    assert.deepEqual(tables, [rows]);
    assert.match(text, /^A line[^]*The first cell, no\. 1[^]*The fourth cell, no\. 7[^]*to its end\s*$/);
  });

  test("the time for a long column with nothing beside it grows with its lines", () => {
    const readsOf = (length: number) => {
      let reads = 0;
      const read = () => (reads += 1);
      const both = Array.from({ length: 20 }, (_line, line) => [
        lineAt(72, 12 * line, 290, read),
        lineAt(320, 12 * line, 520, read),
      ]).flat();
      const across = lineAt(72, 250, 520, read);
      const long = Array.from({ length }, (_line, line) => lineAt(72, 262 + 12 * line, 290, read));
      const regions = readingRegions([...both, across, ...long]);
      assert.deepEqual(
        regions.map((region) => region.length),
        [20, 20, 1 + length],
      );
      return reads;
    };
    const [some, more] = [readsOf(500), readsOf(2000)];
    assert.ok(more < 6 * some, `${some} reads of positions, then ${more}`);
  });
});
