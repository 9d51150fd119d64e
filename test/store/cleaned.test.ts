import assert from "node:assert/strict";
import { test } from "node:test";
import { cleaned } from "../../src/store/postgres/cleaned.ts";

test("texts that Postgres does not keep are written with U+FFFD in place of what it refuses, and others stay", () => {
  const read = (value: unknown) => JSON.parse(String(cleaned(JSON.stringify(value))));
  for (const [given, kept] of [
    ["a\0b", "a\uFFFDb"],
    ["\ud83d", "\uFFFD"],
    ["\udc00\ud83d!", "\uFFFD\uFFFD!"],
    ["\0\udc00", "\uFFFD\uFFFD"],
    ["\u0001\udc00", "\u0001\uFFFD"],
    ["\ud83d\ude00 \\u0000 \\\\ud83d \\", "\ud83d\ude00 \\u0000 \\\\ud83d \\"],
  ])
    assert.equal(read(given), kept, JSON.stringify(given));
  assert.equal(cleaned('"\\uD83D\\uDE00"'), '"\\uD83D\\uDE00"');
  assert.equal(cleaned("a\0b"), "a\uFFFDb");
  assert.deepEqual([cleaned(undefined), cleaned(null), cleaned(7)], [null, null, 7]);
});
