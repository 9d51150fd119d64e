import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deleteJob, showJob } from "../../src/orchestrator/jobs/manage.ts";
import { startJobRun } from "../../src/orchestrator/runs/start.ts";
import { refused } from "../contract/store/kit.ts";
import { openJobs } from "./jobs-kit.ts";

describe("deleting a job by force", () => {
  test("a run that ends while it is about to be cancelled is in nobody's way", async (t) => {
    const place = await openJobs(t);
    const job = await place.make();
    const ids: string[] = [];
    for (let n = 0; n < 3; n += 1) ids.push((await startJobRun(place.deps, job.id)).id);
    let finished = false;
    const store = {
      ...place.store,
      runs: async (...args: Parameters<typeof place.store.runs>) => {
        const live = await place.store.runs(...args);
        if (!finished)
          await place.work("site:a.example", () => ({ kind: "completed", artifacts: [], results: [], detail: null }));
        finished = true;
        return live;
      },
    };
    await deleteJob({ ...place.deps, store }, job.id, { force: true });
    await refused("not_found", showJob(place.deps, job.id));
    const states = await place.store.runStates(ids);
    assert.deepEqual([...states.values()], ["completed", "completed", "completed"]);
  });

  test("a run that cannot be cancelled for another reason is told", async (t) => {
    const place = await openJobs(t);
    const job = await place.make();
    await startJobRun(place.deps, job.id);
    const store = { ...place.store, changeRun: () => Promise.reject(new Error("the disk is gone")) };
    await assert.rejects(deleteJob({ ...place.deps, store }, job.id, { force: true }), /the disk is gone/);
    assert.equal((await showJob(place.deps, job.id)).id, job.id);
  });
});
