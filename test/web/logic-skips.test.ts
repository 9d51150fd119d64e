import assert from "node:assert/strict";
import { test } from "node:test";
import { skippedCount, skippedWords } from "../../web/src/pages/runs/logic/skips.ts";

test("what a crawl left is told most frequent first, and where a limit ended the looking as at least", () => {
  assert.deepEqual(
    skippedWords({ not_included: 3, depth: 12, robots: 0 }).map(({ count, words }) => `${count} ${words}`),
    ["at least 12 too deep", "3 not matched by any pattern"],
  );
  assert.deepEqual(skippedWords(null), []);
  assert.equal(skippedCount({ not_included: 3, depth: 12, robots: 5 }), 15, "what robots.txt closes has failed");
});
