import assert from "node:assert/strict";
import { test } from "node:test";
import { InputReader } from "../../src/domain/text/input-reader.ts";

test("an input reader reads own keys only, and treats null as absent", () => {
  const reader = new InputReader(JSON.parse('{"__proto__": {"url": "x"}, "limit": null}'), "job");
  for (const key of ["url", "constructor", "toString", "limit"]) assert.equal(reader.value(key), undefined, key);
  reader.require("limit", "a number");
  reader.rejectUnknownKeys();
  assert.deepEqual(reader.errors, [
    { path: "job.limit", message: "is required: a number" },
    { path: "job.__proto__", message: "unknown key" },
  ]);
});

test("an input reader reports every error with its path, those of children too", () => {
  const reader = new InputReader({ mode: "fsat", page: { size: 0.5, name: "" }, tags: [1], colour: 1 });
  const page = reader.child("page");
  assert.equal(reader.oneOf("mode", ["fast", "slow"]), undefined);
  assert.equal(page?.number("size", { max: 9 }), undefined);
  assert.equal(page?.text("name"), "");
  assert.equal(page?.text("name", { empty: false }), undefined);
  assert.equal(reader.texts("tags"), undefined);
  reader.ignore("color");
  reader.rejectUnknownKeys();
  assert.deepEqual(
    reader.errors.map(({ path, message }) => `${path}: ${message}`),
    [
      'mode: expected one of fast, slow, did you mean "fast"?',
      "page.size: expected a whole number from 0 to 9",
      "page.name: expected a non-empty string",
      "tags: expected a list of strings",
      'colour: unknown key, did you mean "color"?',
    ],
  );
});
