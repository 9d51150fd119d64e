import assert from "node:assert/strict";
import { test } from "node:test";
import { ClaimBackoff } from "../../src/lanes/owner/claim-backoff.ts";

test("claims of a lane whose runs others have locked pause longer each time, and not at all once they are free", () => {
  let now = 0;
  const backoff = new ClaimBackoff({ monotonic: () => now });
  assert.equal(backoff.waitMs, null);
  const pauses = Array.from({ length: 8 }, () => {
    assert.equal(backoff.report(true), true);
    const pause = backoff.waitMs as number;
    now += pause;
    assert.equal(backoff.waitMs, null);
    return pause;
  });
  assert.deepEqual(pauses, [50, 100, 200, 400, 800, 1600, 2000, 2000]);
  assert.equal(backoff.report(false), false);
  assert.equal(backoff.waitMs, null);
  backoff.report(true);
  assert.equal(backoff.waitMs, 50);
});
