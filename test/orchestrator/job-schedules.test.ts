import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { OrbError } from "../../src/base/errors.ts";
import type { JobInput } from "../../src/orchestrator/jobs/input.ts";
import { changeJob, listJobs } from "../../src/orchestrator/jobs/manage.ts";
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
    const dueAt = async () => (await place.store.job(job.id))?.nextAt;
    const first = Date.parse(job.next_run_at ?? "");
    const late = await place.change(job.id, { tags: ["late"] });
    assert.equal(await dueAt(), first);
    // Nobody was there to start it.
    const next = new Date(place.clock.now() + HOUR).toISOString();
    assert.equal(late.next_run_at, next, "a time that has passed is not shown as the next one");
    assert.deepEqual(
      (await listJobs(place.deps, { limit: 1 })).map(({ next_run_at: at }) => at),
      [next],
    );
    const asked = { ...job.schedule, overlap: "queue", missed: "run_once" } as const;
    const changed = await place.change(job.id, { schedule: asked });
    assert.deepEqual([await dueAt(), changed.schedule], [first, asked]);
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
    const schedule = { cron: "30 7 * * *", timezone: "Asia/Tokyo" };
    assert.equal(await next({ schedule, timezone: null }), "22:30");
    assert.equal(await next({ schedule: null }), null);
    assert.match((await next({ schedule: "15 * * * *" })) ?? "", /:15$/);
  });

  test("two time zones in one job are refused, whether they come together or one after the other", async (t) => {
    const place = await openJobs(t);
    const schedule = { cron: "30 7 * * *", timezone: "Asia/Tokyo" };
    const refused = (work: Promise<unknown>) =>
      assert.rejects(work, (error: OrbError) => {
        assert.equal(error.code, "input_invalid");
        assert.deepEqual(
          error.fields.map(({ path }) => path),
          ["schedule.timezone"],
        );
        assert.match(error.fields[0]?.message ?? "", /is Asia\/Tokyo, but timezone is Europe\/Berlin/);
        return true;
      });
    await refused(place.make({ schedule, timezone: "Europe/Berlin" }));
    const own = await place.make({ schedule });
    await refused(place.change(own.id, { timezone: "Europe/Berlin" }));
    const shared = await place.make({ schedule: "0 6 * * *", timezone: "Europe/Berlin" });
    await refused(place.change(shared.id, { schedule }));
    const { schedule: whole, timezone } = await place.change(shared.id, { schedule, timezone: "Japan" });
    assert.deepEqual([whole?.timezone, timezone], ["Asia/Tokyo", "Japan"], "two names of one");
  });
});
