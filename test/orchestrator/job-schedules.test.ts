import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { OrbError } from "../../src/base/errors.ts";
import type { JobInput } from "../../src/orchestrator/jobs/input.ts";
import { changeJob, createJob, listJobs } from "../../src/orchestrator/jobs/manage.ts";
import { previewSchedule } from "../../src/orchestrator/schedules.ts";
import { missedAt, timeAt } from "../contract/store/jobs.ts";
import { HOUR, openJobs, PAGE } from "./jobs-kit.ts";

describe("a schedule before it is saved", () => {
  const FIVE = { count: 5 };
  const locals = (preview: ReturnType<typeof previewSchedule>) => preview.next_times.map(({ local }) => local);

  test("shows its next times by the clocks of its zone, over a change to summer time", async (t) => {
    const server = await openJobs(t);
    const at = (iso: string) => {
      server.clock.wall = Date.parse(iso);
      return server.deps;
    };
    const zone = { timezone: "Europe/Berlin", ...FIVE };
    const spring = previewSchedule(at("2026-03-27T12:00:00Z"), { cron: "0 6 * * *", ...zone });
    assert.deepEqual(locals(spring), [
      "2026-03-28T06:00:00+01:00",
      "2026-03-29T06:00:00+02:00",
      "2026-03-30T06:00:00+02:00",
      "2026-03-31T06:00:00+02:00",
      "2026-04-01T06:00:00+02:00",
    ]);
    assert.equal(spring.next_times[1]?.at, "2026-03-29T04:00:00.000Z");
    const lost = previewSchedule(at("2026-03-28T12:00:00Z"), { cron: "30 2 * * *", ...zone, count: 2 });
    assert.deepEqual(
      locals(lost),
      ["2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00"],
      "an hour that is skipped",
    );
    const doubled = previewSchedule(at("2026-10-24T12:00:00Z"), { cron: "30 2 * * *", ...zone, count: 2 });
    assert.equal(
      new Set(locals(doubled).map((time) => time.slice(0, 10))).size,
      2,
      "one run on the day that has it twice",
    );
    const utc = previewSchedule(at("2026-03-28T12:00:00Z"), { cron: "0 6 * * *", count: 1 });
    assert.deepEqual([utc.timezone, locals(utc)], ["UTC", ["2026-03-29T06:00:00+00:00"]]);
    const india = previewSchedule(at("2026-03-28T12:00:00Z"), {
      cron: "0 6 * * *",
      timezone: "Asia/Kolkata",
      count: 1,
    });
    assert.deepEqual(locals(india), ["2026-03-29T06:00:00+05:30"]);
    const west = previewSchedule(at("2026-03-28T12:00:00Z"), {
      cron: "0 6 * * *",
      timezone: "America/St_Johns",
      count: 1,
    });
    assert.deepEqual(locals(west), ["2026-03-29T06:00:00-02:30"]);
  });

  test("is refused with the field that is wrong, and when its times are too close to each other", async (t) => {
    const server = await openJobs(t);
    const deps = { ...server.deps, minScheduleMs: 60_000 };
    const fields = (cron: string, timezone?: string) => {
      try {
        previewSchedule(deps, { cron, ...FIVE, ...(timezone === undefined ? {} : { timezone }) });
        return [];
      } catch (error) {
        return (error as OrbError).fields.map(({ path }) => path);
      }
    };
    assert.deepEqual(fields("0 6 * * *", "Europe/Atlantis"), ["timezone"]);
    assert.deepEqual(fields("nonsense"), ["cron"]);
    assert.deepEqual(fields("0 0 30 2 *"), ["cron"], "a day that never comes");
    for (const often of ["* * * * * *", "*/30 * * * * *", "0,59 0 6 * * *"])
      assert.deepEqual(fields(often), ["cron"], often);
    for (const fine of ["* * * * *", "0 * * * * *", "30 0 6 * * *"]) assert.deepEqual(fields(fine), [], fine);
    await assert.rejects(
      createJob(deps, { target_url: PAGE, schedule: { cron: "* * * * * *" } }),
      ({ message }: OrbError) =>
        /schedule\.cron: has times 1 s apart.*60 s are required \(APP_MIN_SCHEDULE_SECONDS\)/.test(message),
    );
  });
});

describe("changing a job with a schedule", () => {
  test("a change of something else keeps the time it is due at, also when that has come", async (t) => {
    const server = await openJobs(t);
    const job = await server.make({ schedule: { cron: "0 * * * *", jitter_seconds: 1800 } });
    for (const change of [{ tags: ["a"] }, { name: "b" }, { schedule: job.schedule }, { timezone: null }]) {
      assert.equal((await server.change(job.id, change)).next_run_at, job.next_run_at, JSON.stringify(change));
    }
    await server.clock.advance(2 * HOUR);
    const dueAt = async () => (await server.store.job(job.id))?.nextAt;
    const first = Date.parse(job.next_run_at ?? "");
    const late = await server.change(job.id, { tags: ["late"] });
    assert.equal(await dueAt(), first);
    // Nobody was there to start it.
    const next = new Date(server.clock.now() + HOUR).toISOString();
    assert.equal(late.next_run_at, next, "a time that has passed is not shown as the next one");
    assert.deepEqual(
      (await listJobs(server.deps, { limit: 1 })).map(({ next_run_at: at }) => at),
      [next],
    );
    const asked = { ...job.schedule, overlap: "queue", missed: "run_once" } as const;
    const changed = await server.change(job.id, { schedule: asked });
    assert.deepEqual([await dueAt(), changed.schedule], [first, asked]);
  });

  test("a slot that was passed while the change was made stays passed", async (t) => {
    const server = await openJobs(t);
    const job = await server.make({ schedule: "0 * * * *" });
    const slot = server.clock.now() + HOUR;
    await server.clock.advance(HOUR);
    const store = {
      ...server.store,
      updateJob: async (...args: Parameters<typeof server.store.updateJob>) => {
        await server.store.skipOccurrences(job.id, missedAt(slot), timeAt(slot + HOUR), server.clock.now());
        return server.store.updateJob(...args);
      },
    };
    const changed = await changeJob({ ...server.deps, store }, job.id, { tags: ["a"] });
    assert.equal(changed.next_run_at, new Date(slot + HOUR).toISOString());
  });

  test("another schedule or another time zone is due at its own time, and none at none", async (t) => {
    const server = await openJobs(t);
    const job = await server.make({ schedule: "0 6 * * *", timezone: "Europe/Berlin" });
    const next = async (change: JobInput) => (await server.change(job.id, change)).next_run_at?.slice(11, 16) ?? null;
    assert.equal(job.next_run_at?.slice(11, 16), "05:00");
    assert.equal(await next({ timezone: "UTC" }), "06:00");
    assert.equal(await next({ schedule: "30 7 * * *" }), "07:30");
    const schedule = { cron: "30 7 * * *", timezone: "Asia/Tokyo" };
    assert.equal(await next({ schedule, timezone: null }), "22:30");
    assert.equal(await next({ schedule: null }), null);
    assert.match((await next({ schedule: "15 * * * *" })) ?? "", /:15$/);
  });

  test("two time zones in one job are refused, whether they come together or one after the other", async (t) => {
    const server = await openJobs(t);
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
    await refused(server.make({ schedule, timezone: "Europe/Berlin" }));
    const own = await server.make({ schedule });
    await refused(server.change(own.id, { timezone: "Europe/Berlin" }));
    const shared = await server.make({ schedule: "0 6 * * *", timezone: "Europe/Berlin" });
    await refused(server.change(shared.id, { schedule }));
    const { schedule: whole, timezone } = await server.change(shared.id, { schedule, timezone: "Japan" });
    assert.deepEqual([whole?.timezone, timezone], ["Asia/Tokyo", "Japan"], "two names of one");
  });
});
