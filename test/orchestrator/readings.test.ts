import assert from "node:assert/strict";
import { test } from "node:test";
import { queueRun } from "../../src/orchestrator/queue/queue-run.ts";
import { stateReadings } from "../../src/orchestrator/readings.ts";
import { startJobRun } from "../../src/orchestrator/runs/start.ts";
import { openJobs } from "./jobs-kit.ts";

test("metrics count stored runs, without runs that are being removed", async (t) => {
  const server = await openJobs(t);
  const job = await server.make();
  const first = await startJobRun(server.deps, job.id);
  await startJobRun(server.deps, job.id);
  await queueRun(server);
  await server.work("site:a.example", () => ({ kind: "completed", artifacts: [], results: [], detail: null }));
  const counted = async () => {
    const readings = await stateReadings(server);
    return readings
      .filter(({ name, value }) => name === "orb_runs" && value !== 0)
      .map(({ labels, value }) => `${labels?.["kind"]} ${labels?.["status"]} ${value}`);
  };
  const before = await counted();
  assert.ok(before.includes("page completed 2"), before.join());
  await server.store.deleteRun(first.id, server.clock.now());
  const expected = before.map((line) => (line === "page completed 2" ? "page completed 1" : line));
  assert.deepEqual(await counted(), expected);
});
