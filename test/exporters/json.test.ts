import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../support/properties.ts";
import type { JsonValue } from "../../src/domain/lane/queue-item.ts";
import { jsonExporter } from "../../src/exporters/json.ts";
import { jsonlExporter } from "../../src/exporters/jsonl.ts";
import { HOSTILE, record, textOf } from "./records.ts";

const fields = fc.dictionary(
  fc.string({ unit: "binary" }),
  fc.jsonValue({ stringUnit: "binary" }) as fc.Arbitrary<JsonValue>,
);
/** As JSON has it: without minus zero. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

test("json is one valid document, with all records or with none", async () => {
  assert.deepEqual(JSON.parse(await textOf(jsonExporter, [])), []);
  assert.deepEqual(JSON.parse(await textOf(jsonExporter, [{ a: 1 }])), [record({ a: 1 })]);
  const three = [{ a: 1 }, { b: [null, { c: "d" }] }, {}];
  const whole = await textOf(jsonExporter, three);
  assert.deepEqual(
    JSON.parse(whole),
    three.map((data, index) => record(data, index + 1)),
  );
});

test("jsonl is one record per line, and nothing when there are none", async () => {
  assert.equal(await textOf(jsonlExporter, []), "");
  const lines = (await textOf(jsonlExporter, [{ a: "two\nlines" }, { b: 2 }])).split("\n");
  assert.equal(lines.pop(), "");
  assert.deepEqual(
    lines.map((line) => JSON.parse(line)),
    [record({ a: "two\nlines" }), record({ b: 2 }, 2)],
  );
});

test("hostile strings come back the same, half surrogate pairs included", async () => {
  const strings = [...HOSTILE, "half \uD83D", "\uDC00 half"];
  const data = strings.map((text) => ({ text, [text.slice(0, 20)]: [text] }));
  const expected = data.map((one, index) => record(one, index + 1));
  assert.deepEqual(JSON.parse(await textOf(jsonExporter, data)), expected);
  const lines = (await textOf(jsonlExporter, data)).trimEnd().split("\n");
  assert.deepEqual(
    lines.map((line) => JSON.parse(line)),
    expected,
  );
});

test("whatever the fields are, both give them back", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fields, { maxLength: 5 }), async (data) => {
      const expected = data.map((one, index) => plain(record(one, index + 1)));
      assert.deepEqual(JSON.parse(await textOf(jsonExporter, data)), expected);
      const lines = (await textOf(jsonlExporter, data)).split("\n").slice(0, -1);
      assert.deepEqual(
        lines.map((line) => JSON.parse(line)),
        expected,
      );
    }),
  );
});
