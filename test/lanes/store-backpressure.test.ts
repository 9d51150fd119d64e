import assert from "node:assert/strict";
import { test } from "node:test";
import { OrbError } from "../../src/base/errors.ts";
import { createLog } from "../../src/base/log.ts";
import { StoreBackpressure } from "../../src/lanes/limits/store-backpressure.ts";
import { FakeClock } from "../support/fake-clock.ts";

test("why work pauses is told as it was found last, since when it has paused as it was found first", async (t) => {
  const clock = new FakeClock();
  const begun = clock.now();
  let outage: OrbError | null = new OrbError("disk_full", "150 MB are free");
  const backpressure = new StoreBackpressure({
    clock,
    log: createLog({ level: "error", pretty: false, write: () => {} }),
    probe: async () => {
      if (outage !== null) throw outage;
    },
  });
  t.after(() => backpressure.stop());
  assert.equal(backpressure.report(outage), true);
  const seen = [backpressure.reason];
  for (const next of ["90 MB are free", "the folder cannot be written", null]) {
    outage = next === null ? null : new OrbError("artifacts_unavailable", next);
    await clock.advance(1000);
    seen.push(backpressure.reason);
    assert.equal(backpressure.since, next === null ? null : begun);
  }
  assert.deepEqual(seen, ["150 MB are free", "90 MB are free", "the folder cannot be written", null]);
});
