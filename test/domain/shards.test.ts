import assert from "node:assert/strict";
import { test } from "node:test";
import { shardsDue, whyNotDivided } from "../../src/domain/lane/shards.ts";

const SITE = { shards: 4, maxConcurrency: 8, minDelayMs: 0, crawlDelayMs: null, group: null };

test("a fast site may have as many shards as its default burst, a slow one needs a burst of its own", () => {
  const fast = { ...SITE, requestsPerSecond: 200, burst: null };
  assert.deepEqual([whyNotDivided(fast), shardsDue(fast)], [null, 4]);
  const slow = { ...SITE, requestsPerSecond: 40, burst: null };
  assert.match(whyNotDivided(slow) ?? "", /is more than burst \(1\)/);
  assert.equal(shardsDue(slow), 1);
  assert.deepEqual([whyNotDivided({ ...slow, burst: 4 }), shardsDue({ ...slow, burst: 3 })], [null, 3]);
});
