import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { createLog } from "../../src/base/log.ts";
import { OrbError } from "../../src/base/errors.ts";
import type { Seal } from "../../src/base/seal.ts";
import type { Store } from "../../src/store/ports/port.ts";
import { compareMonitoredRuns } from "../../src/supervisor/duties/compare-monitored-runs.ts";

/** Runs that wait to be compared; reading the pages of the bad ones throws. */
function bench(errors: Record<string, Error>) {
  let at = 0;
  const left = ["bad", "good"];
  const [read, dropped, lines]: [string[], string[], string[]] = [[], [], []];
  const store = {
    monitorsDue: async () => left.map((runId) => ({ runId, generation: 1, drop: false })),
    run: async () => ({ generation: 1, kind: "page", snapshot: { recipe: { monitor: { what: "text" } } } }),
    waitingPages: async (runId: string) => {
      read.push(runId);
      if (errors[runId] !== undefined) throw errors[runId];
      return [];
    },
    dropWaitingPages: async (runId: string) => {
      dropped.push(runId);
      return 0;
    },
    recordUnreached: async () => 0,
    trimMonitor: async () => 0,
    concludeMonitor: async ({ runId }: { runId: string }) => {
      left.splice(left.indexOf(runId), 1);
      return null;
    },
  } as unknown as Store;
  const duty = compareMonitoredRuns({
    store,
    clock: { ...systemClock, monotonic: () => at, now: () => at },
    seal: null as unknown as Seal,
    openArtifact: () => Promise.reject(new Error("nothing is read")),
    keepFile: async () => null,
    deliver: false,
    log: createLog({ level: "warn", pretty: false, write: (line) => void lines.push(line) }),
  });
  const { signal } = new AbortController();
  return { left, read, dropped, lines, run: () => duty.run(signal), pass: (ms: number) => (at += ms) };
}

test("a run whose pages cannot be compared holds up no other, is tried again later, and is dropped with a warning", async () => {
  const { left, read, dropped, lines, run, pass } = bench({ bad: new RangeError("too large") });
  await run();
  assert.deepEqual([left, read], [["bad"], ["bad", "good"]]);
  await run();
  assert.equal(read.length, 2, "not at once");
  for (let tries = 0; tries < 10 && left.length > 0; tries += 1) {
    assert.deepEqual(dropped, []);
    pass(3_600_000);
    await run();
  }
  assert.deepEqual([left, dropped], [[], ["bad"]]);
  assert.equal(read.filter((one) => one === "bad").length, 5);
  assert.equal(lines.length, 6);
  assert.match(lines.at(-1)!, /were not compared.*bad/);
});

test("an unreachable database is no fault of the run", async () => {
  const away = new OrbError("database_unavailable", "away");
  const { run, dropped, pass } = bench({ bad: away });
  for (let tries = 0; tries < 10; tries += 1) {
    await assert.rejects(run(), away);
    pass(3_600_000);
  }
  assert.deepEqual(dropped, []);
});
