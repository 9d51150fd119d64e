import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../support/properties.ts";
import { parquetMetadata, parquetReadObjects } from "hyparquet";
import type { JsonValue } from "../../src/domain/lane/queue-item.ts";
import type { ExportOptions } from "../../src/exporters/exporter.ts";
import { parquetExporter } from "../../src/exporters/parquet.ts";
import { bytesOf, HOSTILE, record, stream } from "./records.ts";

async function roundTrip(data: Record<string, JsonValue>[], options?: ExportOptions) {
  const records = data.map((one, index) => record(one, index + 1));
  const { buffer: file } = await bytesOf(parquetExporter, stream(records), options);
  const metadata = parquetMetadata(file);
  const types = Object.fromEntries(
    metadata.schema.slice(1).map(({ name, type, converted_type }) => [name, converted_type ?? type]),
  );
  return { metadata, types, rows: await parquetReadObjects({ file }) };
}

const OWN = { id: "UTF8", run_id: "UTF8", task_id: "UTF8", url: "UTF8", created_at: "TIMESTAMP_MILLIS" };

test("no records give a file with the columns that are known and no rows", async () => {
  const { types, rows, metadata } = await roundTrip([], { columns: ["title"] });
  assert.deepEqual(types, { ...OWN, title: "UTF8" });
  assert.deepEqual(rows, []);
  assert.equal(metadata.num_rows, 0n);
});

test("columns have the types that were seen, and nulls stay nulls", async () => {
  const { types, rows } = await roundTrip([
    { title: "A", price: 9.5, stock: 3, sold: true, tags: ["x"], mixed: 1, never: null },
    { title: "B", price: 10, stock: 9_007_199_254_740_991, sold: false, tags: [], mixed: "one" },
    { title: null, price: null },
  ]);
  assert.deepEqual(types, {
    ...OWN,
    title: "UTF8",
    price: "DOUBLE",
    stock: "INT64",
    sold: "BOOLEAN",
    tags: "UTF8",
    mixed: "UTF8",
    never: "UTF8",
  });
  const fields = rows.map(({ id: _i, run_id: _r, task_id: _t, url: _u, created_at: _c, ...rest }) => rest);
  const nothing = { sold: null, stock: null, tags: null, mixed: null, never: null };
  assert.deepEqual(fields, [
    { title: "A", price: 9.5, stock: 3n, sold: true, tags: '["x"]', mixed: "1", never: null },
    { title: "B", price: 10, stock: 9_007_199_254_740_991n, sold: false, tags: "[]", mixed: "one", never: null },
    { title: null, price: null, ...nothing },
  ]);
  assert.equal(rows[0]?.["url"], "https://shop.example/item/1");
  assert.equal(rows[2]?.["run_id"], "run_1");
  assert.deepEqual(rows[1]?.["created_at"], new Date("2026-03-01T12:00:00.000Z"));
});

test("numbers beyond the safe integers stay doubles", async () => {
  const { types, rows } = await roundTrip([{ n: 2 ** 60 }, { n: 1 }]);
  assert.equal(types["n"], "DOUBLE");
  assert.deepEqual(
    rows.map((row) => row["n"]),
    [2 ** 60, 1],
  );
});

test("many records make row groups, and what does not fit the first one's columns is kept beside", async () => {
  const data: Record<string, JsonValue>[] = Array.from({ length: 12_000 }, (_, n) => ({ n, ok: true, text: "t" }));
  data[7_000] = { n: 9.99, ok: "yes", text: { a: 1 } };
  data[11_999] = { n: "many", ok: null, text: 5, late: [1] };
  const { metadata, types, rows } = await roundTrip(data);
  assert.deepEqual(
    metadata.row_groups.map((group) => Number(group.num_rows)),
    [5_000, 5_000, 2_000],
  );
  assert.deepEqual(types, { ...OWN, n: "DOUBLE", ok: "BOOLEAN", text: "UTF8", _more: "UTF8" });
  const pick = (index: number) => {
    const { n, ok, text, _more: more } = rows[index] ?? {};
    return [n, ok, text, more];
  };
  assert.deepEqual(pick(6_999), [6_999, true, "t", null]);
  assert.deepEqual(pick(7_000), [9.99, null, '{"a":1}', '{"ok":"yes"}']);
  assert.deepEqual(pick(11_999), [null, null, "5", '{"late":[1],"n":"many"}']);
});

test("large records make small row groups", async () => {
  const text = "x".repeat(3 * 1024 * 1024);
  const { metadata, rows } = await roundTrip([{ text }, { text }, { text }]);
  assert.equal(metadata.row_groups.length, 2);
  assert.deepEqual(
    rows.map((row) => (row["text"] as string).length),
    [text.length, text.length, text.length],
  );
});

test("a field that is named like a column of the record gets a name of its own", async () => {
  const { rows } = await roundTrip([{ url: "x", id: 7, _more: "m" }]);
  assert.deepEqual(
    [rows[0]?.["url"], rows[0]?.["data_url"], rows[0]?.["data_id"], rows[0]?.["data__more"]],
    ["https://shop.example/item/1", "x", 7n, "m"],
  );
});

test("hostile strings come back the same", async () => {
  const { rows } = await roundTrip(HOSTILE.map((cell) => ({ cell })));
  assert.deepEqual(
    rows.map((row) => row["cell"]),
    // The reader takes a byte order mark at the beginning of a cell for one; it is in the file.
    HOSTILE.map((text) => text.replace(/^\uFEFF/, "")),
  );
});

test("whatever the fields are, they can be read back", async () => {
  const key = fc.oneof(fc.constantFrom("a", "b", "", "x.y", "constructor"), fc.string({ maxLength: 3 }));
  const value = fc.oneof(fc.jsonValue(), fc.integer(), fc.boolean(), fc.double({ noNaN: true }), fc.string());
  const fields = fc.dictionary(key, value as fc.Arbitrary<JsonValue>, { maxKeys: 5 });
  await fc.assert(
    fc.asyncProperty(fc.array(fields, { maxLength: 6 }), async (data) => {
      const { rows, types } = await roundTrip(data);
      for (const [index, one] of data.entries()) {
        const row = new Map(Object.entries(rows[index] ?? {}));
        for (const [field, expected] of Object.entries(one)) {
          const found = row.get(field);
          if (expected === null) assert.equal(found, null);
          else if (types[field] !== "UTF8") assert.equal(Number(found), Number(expected));
          else assert.equal(found, typeof expected === "string" ? expected : JSON.stringify(expected));
        }
      }
    }),
  );
});
