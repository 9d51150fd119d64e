import assert from "node:assert/strict";
import { test } from "node:test";
import type { JobLimits } from "../../src/store/ports/retention-port.ts";
import type { Store } from "../../src/store/ports/port.ts";
import { removeExpiredRuns } from "../../src/supervisor/duties/remove-expired-runs.ts";
import { FakeClock } from "../support/fake-clock.ts";

test("a run that becomes visible after a newer one is checked all the same", async () => {
  const newest = [10, 20, 30, 40];
  const since: number[] = [];
  const store = {
    advanceDeletions: async () => false,
    expireRuns: async () => 0,
    lastRunNumber: async () => newest.shift() ?? 0,
    trimJobs: async (limits: JobLimits) => {
      since.push(limits.since);
      return { hidden: 0, isMore: false, last: null };
    },
    removeExpired: async () => 0,
    expireTrackedPages: async () => 0,
  } as unknown as Store;
  const retention = { temporaryMs: 1000, keepRuns: 1, keepDays: 0 } as Parameters<
    typeof removeExpiredRuns
  >[0]["retention"];
  const duty = removeExpiredRuns({ store, clock: new FakeClock(), retention });
  for (let round = 0; round < 4; round += 1) await duty.run(new AbortController().signal);
  // Run 19 may have been started before run 20, and committed after the second time.
  assert.deepEqual(since, [0, 0, 10, 20]);
});
