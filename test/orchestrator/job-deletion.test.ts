import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deleteJob, showJob } from "../../src/orchestrator/jobs/manage.ts";
import { startJobRun } from "../../src/orchestrator/runs/start.ts";
import { refused } from "../contract/store/kit.ts";
import { openJobs } from "./jobs-kit.ts";

describe("deleting a job by force", () => {
  test("a run that ends while it is about to be cancelled is in nobody's way", async (t) => {
    const server = await openJobs(t);
    const job = await server.make();
    const ids: string[] = [];
    for (let n = 0; n < 3; n += 1) ids.push((await startJobRun(server.deps, job.id)).id);
    let finished = false;
    const store = {
      ...server.store,
      runs: async (...args: Parameters<typeof server.store.runs>) => {
        const live = await server.store.runs(...args);
        if (!finished)
          await server.work("site:a.example", () => ({ kind: "completed", artifacts: [], results: [], detail: null }));
        finished = true;
        return live;
      },
    };
    await deleteJob({ ...server.deps, store }, job.id, { force: true });
    await refused("not_found", showJob(server.deps, job.id));
    const states = await server.store.runStates(ids);
    assert.deepEqual([...states.values()], ["completed", "completed", "completed"]);
  });

  test("a run that cannot be cancelled for another reason is told", async (t) => {
    const server = await openJobs(t);
    const job = await server.make();
    await startJobRun(server.deps, job.id);
    const store = { ...server.store, changeRun: () => Promise.reject(new Error("the disk is gone")) };
    await assert.rejects(deleteJob({ ...server.deps, store }, job.id, { force: true }), /the disk is gone/);
    assert.equal((await showJob(server.deps, job.id)).id, job.id);
  });
});
