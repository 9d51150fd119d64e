import assert from "node:assert/strict";
import { test } from "node:test";
import { cancelRun } from "../../src/orchestrator/runs/control.ts";
import { sweepEndedRuns } from "../../src/supervisor/duties/sweep-ended-runs.ts";
import { newTask } from "../contract/store/kit.ts";
import { openOrchestrator } from "../orchestrator/kit.ts";

test("cancelling does not wait until all that waits is ended; that is done soon after", async (t) => {
  const orchestrator = await openOrchestrator(t);
  const { store, clock } = orchestrator;
  const tasks = Array.from({ length: 3500 }, (_, n) => newTask(`p${n}`));
  const { created } = await store.startRun({ kind: "crawl", maxAttempts: 3, snapshot: {} }, tasks, clock.now());
  const totals = async () => (await store.overview(created.id, 0)).totals;
  assert.equal((await cancelRun(orchestrator, created.id)).status, "cancelled");
  assert.deepEqual(orchestrator.woken, [null], "what is under way is dropped");
  assert.deepEqual([(await totals()).queued, (await totals()).cancelled], [2500, 1000]);
  const sweeping = sweepEndedRuns(orchestrator).run(new AbortController().signal);
  // Others have the database between two pieces.
  while ((await totals()).queued > 0) await clock.advance(5);
  await clock.advance(5);
  await sweeping;
  assert.deepEqual([(await totals()).queued, (await totals()).cancelled], [0, 3500]);
  assert.deepEqual((await store.audit()).findings, []);
});
