import assert from "node:assert/strict";
import { test } from "node:test";
import { type Line, pairsOf } from "../../web/src/pages/changes/diff-rows.ts";

const line = (text: string): Line => ({ op: text[0] as Line["op"], text: text.slice(1) });
const shown = (...lines: string[]) =>
  pairsOf(lines.map(line)).map(({ before, after }) => `${before?.text ?? "·"}|${after?.text ?? "·"}`);

test("side by side, a removed line stands beside the one that took its place", () => {
  assert.deepEqual(shown(" a", "-b", "-c", "+x", " d"), ["a|a", "b|x", "c|·", "d|d"]);
  assert.deepEqual(shown("+x", "+y", " a", "-b"), ["·|x", "·|y", "a|a", "b|·"]);
  assert.deepEqual(shown("-a", "+x", "-b", "+y"), ["a|x", "b|y"]);
});
