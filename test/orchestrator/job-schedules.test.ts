import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JobInput } from "../../src/orchestrator/jobs/input.ts";
import { changeJob } from "../../src/orchestrator/jobs/manage.ts";
import { missedAt, timeAt } from "../contract/store/jobs.ts";
import { HOUR, openJobs } from "./jobs-kit.ts";

describe("changing a job with a schedule", () => {
  test("a change of something else keeps the time it is due at, also when that has come", async (t) => {
    const place = await openJobs(t);
    const job = await place.make({ schedule: { cron: "0 * * * *", jitter_seconds: 1800 } });
    for (const change of [{ tags: ["a"] }, { name: "b" }, { schedule: job.schedule }, { timezone: null }]) {
      assert.equal((await place.change(job.id, change)).next_run_at, job.next_run_at, JSON.stringify(change));
    }
    await place.clock.advance(2 * HOUR);
    assert.equal((await place.change(job.id, { tags: ["late"] })).next_run_at, job.next_run_at);
    const asked = { ...job.schedule, overlap: "queue", missed: "run_once" } as const;
    const changed = await place.change(job.id, { schedule: asked });
    assert.deepEqual([changed.next_run_at, changed.schedule], [job.next_run_at, asked]);
  });

  test("a slot that was passed while the change was made stays passed", async (t) => {
    const place = await openJobs(t);
    const job = await place.make({ schedule: "0 * * * *" });
    const slot = place.clock.now() + HOUR;
    await place.clock.advance(HOUR);
    const store = {
      ...place.store,
      updateJob: async (...args: Parameters<typeof place.store.updateJob>) => {
        await place.store.passSlots(job.id, missedAt(slot), timeAt(slot + HOUR), place.clock.now());
        return place.store.updateJob(...args);
      },
    };
    const changed = await changeJob({ ...place.deps, store }, job.id, { tags: ["a"] });
    assert.equal(changed.next_run_at, new Date(slot + HOUR).toISOString());
  });

  test("another schedule or another time zone is due at its own time, and none at none", async (t) => {
    const place = await openJobs(t);
    const job = await place.make({ schedule: "0 6 * * *", timezone: "Europe/Berlin" });
    const next = async (change: JobInput) => (await place.change(job.id, change)).next_run_at?.slice(11, 16) ?? null;
    assert.equal(job.next_run_at?.slice(11, 16), "05:00");
    assert.equal(await next({ timezone: "UTC" }), "06:00");
    assert.equal(await next({ schedule: "30 7 * * *" }), "07:30");
    assert.equal(await next({ schedule: { cron: "30 7 * * *", timezone: "Asia/Tokyo" } }), "22:30");
    assert.equal(await next({ timezone: "Europe/Berlin" }), "22:30", "the schedule names its own");
    assert.equal(await next({ schedule: null }), null);
    assert.match((await next({ schedule: "15 * * * *" })) ?? "", /:15$/);
  });
});
