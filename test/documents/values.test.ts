import assert from "node:assert/strict";
import { test } from "node:test";
import { readCellForms, shownNumber } from "../../src/documents/formats/xlsx-values.ts";
import { read, readPage } from "./kit.ts";

/** How Excel shows a value in a format, by its code or its number. */
function shown(value: number, format: string | number): string {
  const custom = typeof format === "string" ? `<numFmts><numFmt numFmtId="170" formatCode="${format}"/></numFmts>` : "";
  const id = typeof format === "string" ? 170 : format;
  const [form = null] = readCellForms(`<styleSheet>${custom}<cellXfs><xf numFmtId="${id}"/></cellXfs></styleSheet>`);
  return shownNumber(String(value), form, false);
}

test("a user reads hours of work, times and dates from a sheet as Excel shows them", () => {
  const hour = 1 / 24;
  assert.deepEqual(
    [
      shown(37.5 * hour, "[h]:mm"),
      shown(2.5 * hour, "[h]:mm:ss"),
      shown(-1.5 * hour, "[hh]:mm"),
      shown(2 * hour, "[m]"),
      shown(30 * hour + 1 / 86_400, 46),
    ],
    ["37:30", "2:30:00", "-1:30", "120", "30:00:01"],
  );
  assert.equal(shown(45_717.75, "h:mm"), "18:00", "the time of a timestamp");
  assert.equal(shown(1.999_999_99, "[h]:mm:ss"), "48:00:00", "rounded once");
  assert.deepEqual(
    [27, 31, 36, 50, 58].map((id) => shown(45_717, id)),
    Array(5).fill("2025-03-01"),
  );
  assert.deepEqual(
    [shown(0.75, 32), shown(0.75, 55), shown(45_717, 55), shown(45_717.5, 34)],
    ["18:00", "18:00", "2025-03-01", "2025-03-01 12:00"],
  );
  assert.deepEqual([shown(0.285, 9), shown(0.125, 10), shown(3, "[Red]0.00")], ["29%", "12.50%", "3"]);
});

test("a CSV file is read in its own encoding, and by the separator that leaves numbers whole", async () => {
  const table = async (bytes: Buffer) => (await readPage(bytes, "prices.csv")).tables[0];
  assert.deepEqual(await table(Buffer.from("Tee;1,5\nMilch;2,5\n")), [
    ["Tee", "1,5"],
    ["Milch", "2,5"],
  ]);
  assert.deepEqual(await table(Buffer.from("a\t1,5\nb\t2,5\n")), [
    ["a", "1,5"],
    ["b", "2,5"],
  ]);
  const russian = Buffer.from(
    [..."название;цена\nчайник;двенадцать рублей\nложка;три рубля\n"].map((letter) => {
      const code = letter.codePointAt(0)!;
      return code < 128 ? code : code - 0x410 + 0xc0;
    }),
  );
  assert.deepEqual((await table(russian))?.[1], ["чайник", "двенадцать рублей"]);
  const marked = await read(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from("é;b\n1;2\n")]), "a.csv");
  assert.match(marked.html, /<th>é<\/th>/);
});
