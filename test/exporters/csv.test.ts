import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../support/properties.ts";
import type { JsonValue } from "../../src/domain/lane/queue-item.ts";
import { csvExcelExporter, csvExporter } from "../../src/exporters/csv.ts";
import { HOSTILE, textOf } from "./records.ts";

/** A cell without quotes and without letters is null, as the format's page says. */
type Cell = string | null;

/** RFC 4180, strictly: throws on anything that is not. */
function parseCsv(text: string): Cell[][] {
  const rows: Cell[][] = [];
  let row: Cell[] = [];
  let at = 0;
  while (at < text.length) {
    let cell: Cell;
    if (text[at] === '"') {
      let value = "";
      for (;;) {
        const end = text.indexOf('"', at + 1);
        assert.ok(end >= 0, "a quoted cell ends");
        value += text.slice(at + 1, end);
        at = end + 1;
        if (text[at] !== '"') break;
        value += '"';
      }
      cell = value;
    } else {
      const found = text.slice(at).search(/[,\r\n]/);
      const value = text.slice(at, at + found);
      assert.ok(!value.includes('"'), "a quote stands only in quoted cells");
      at += found;
      cell = value === "" ? null : value;
    }
    row.push(cell);
    if (text[at] === ",") {
      at += 1;
      continue;
    }
    assert.equal(text.slice(at, at + 2), "\r\n", "a row ends with CR LF");
    at += 2;
    rows.push(row);
    row = [];
  }
  assert.deepEqual(row, []);
  return rows;
}

const FORMULA_START = /^['"\s\0]*[=+\-@＝＋－＠]|^['"]*[\t\r\n]/;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** What the page tells readers to do: one apostrophe before a formula is not part of the text. */
const armed = (cell: Cell): Cell =>
  cell !== null && cell.startsWith("'") && FORMULA_START.test(cell) ? cell.slice(1) : cell;

const cellOf = (value: JsonValue): Cell => {
  if (value === null) return null;
  return typeof value === "string" ? value.toWellFormed() : JSON.stringify(value);
};

test("no records give a header, with the columns that are known", async () => {
  assert.equal(await textOf(csvExporter, []), "url\r\n");
  assert.equal(await textOf(csvExporter, [], { columns: ["title", "price"] }), "url,title,price\r\n");
});

test("columns are the fields in the order of their first appearance", async () => {
  const text = await textOf(csvExporter, [{ title: "A", price: 5 }, { price: -5, stock: true }, { title: null }]);
  assert.equal(
    text,
    "url,title,price,stock\r\n" +
      "https://shop.example/item/1,A,5,\r\n" +
      "https://shop.example/item/2,,-5,true\r\n" +
      "https://shop.example/item/3,,,\r\n",
  );
});

test("fields beside the columns that were asked for go to a last column", async () => {
  const rows = parseCsv(await textOf(csvExporter, [{ a: 1, b: "x" }, { a: 2 }], { columns: ["a", "c"] }));
  assert.deepEqual(rows[0], ["url", "a", "c", "_more"]);
  assert.deepEqual(rows[1]?.slice(1), ["1", null, '{"b":"x"}']);
  assert.deepEqual(rows[2]?.slice(1), ["2", null, null]);
});

test("a field that first appears after the thousandth record is not lost", async () => {
  const data: Record<string, JsonValue>[] = Array.from({ length: 1_500 }, (_, index) => ({ n: index }));
  data[1_400] = { n: 1_400, late: ["=1"] };
  const rows = parseCsv(await textOf(csvExporter, data));
  assert.equal(rows.length, 1_501);
  assert.deepEqual(rows[0], ["url", "n", "_more"]);
  assert.deepEqual(rows[1_401]?.slice(1), ["1400", '{"late":["=1"]}']);
});

test("a field named url does not replace the record's address, and _more may be a field too", async () => {
  const rows = parseCsv(await textOf(csvExporter, [{ url: "x", data_url: "y", _more: 1 }]));
  assert.deepEqual(rows[0], ["url", "data_data_url", "data_url", "_more"]);
  assert.deepEqual(rows[1], ["https://shop.example/item/1", "x", "y", "1"]);
});

test("lists and objects are JSON", async () => {
  const rows = parseCsv(await textOf(csvExporter, [{ list: [1, "a,b"], object: { k: 'q"q' } }]));
  assert.deepEqual(rows[1]?.slice(1), ['[1,"a,b"]', '{"k":"q\\"q"}']);
});

test("formulas are defused, numbers are not", async () => {
  const cells = [
    "=1",
    "+a",
    "-a",
    "@a",
    "\ta",
    "\ra",
    '"=1',
    "'=1",
    "-5",
    "+3.2",
    "-.5",
    "1e9",
    "-1E+3",
    "-5-5",
    "plain",
  ];
  const rows = parseCsv(
    await textOf(
      csvExporter,
      cells.map((cell) => ({ cell })),
    ),
  );
  assert.deepEqual(
    rows.slice(1).map((row) => row[1]),
    [
      "'=1",
      "'+a",
      "'-a",
      "'@a",
      "'\ta",
      "'\ra",
      "'\"=1",
      "''=1",
      "-5",
      "+3.2",
      "-.5",
      "1e9",
      "-1E+3",
      "'-5-5",
      "plain",
    ],
  );
});

test("names of columns are defused and quoted too", async () => {
  const text = await textOf(csvExporter, [{ "=cmd|' /C calc'!A0": 1, 'a"b': 2, "c,d": 3, "": 4 }]);
  assert.ok(text.startsWith(`url,'=cmd|' /C calc'!A0,"a""b","c,d",""\r\n`), text);
});

test("hostile strings come back the same", async () => {
  const rows = parseCsv(
    await textOf(
      csvExporter,
      HOSTILE.map((cell) => ({ cell })),
    ),
  );
  assert.deepEqual(
    rows.slice(1).map((row) => armed(row[1] ?? null)),
    HOSTILE,
  );
});

test("half a surrogate pair, which UTF-8 cannot hold, becomes a replacement character", async () => {
  const rows = parseCsv(await textOf(csvExporter, [{ cell: "half \uD83D" }]));
  assert.equal(rows[1]?.[1], "half \uFFFD");
});

test("whatever the fields are, they can be read back, and no cell is a formula", async () => {
  const hostile = fc.oneof(fc.constantFrom(...HOSTILE.slice(0, -1)), fc.string({ unit: "binary" }));
  const value = fc.oneof(hostile, fc.jsonValue()) as fc.Arbitrary<JsonValue>;
  const key = fc.constantFrom("a", "=b", 'c"', "d,", "é", "", "__proto__", "constructor");
  const fields = fc.array(fc.tuple(key, value)).map((pairs) => Object.fromEntries(pairs));
  await fc.assert(
    fc.asyncProperty(fc.array(fields, { maxLength: 6 }), async (data) => {
      const [head = [], ...rows] = parseCsv(await textOf(csvExporter, data));
      const names = [...new Set(data.flatMap((one) => Object.keys(one)))];
      assert.deepEqual(head.map(armed), ["url", ...names]);
      assert.equal(rows.length, data.length);
      for (const [index, row] of rows.entries()) {
        const source = new Map(Object.entries(data[index] ?? {}));
        assert.deepEqual(
          row.slice(1).map(armed),
          names.map((name) => cellOf(source.get(name) ?? null)),
        );
        for (const cell of row) assert.ok(cell === null || NUMBER.test(cell) || !/^[=+\-@\t\r]/.test(cell), cell ?? "");
      }
    }),
  );
});

test("csv-excel is the same table behind a byte order mark", async () => {
  const data = [{ title: "Übergröße" }];
  const text = await textOf(csvExcelExporter, data);
  assert.equal(text, `\uFEFF${await textOf(csvExporter, data)}`);
  assert.equal(await textOf(csvExcelExporter, []), `\uFEFF${await textOf(csvExporter, [])}`);
});
