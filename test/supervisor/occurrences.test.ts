import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import { createLog } from "../../src/base/log.ts";
import { systemRandom } from "../../src/base/random.ts";
import { createSeal } from "../../src/base/seal.ts";
import { PUBLIC_ONLY } from "../../src/net/address.ts";
import { changeJob, createJob } from "../../src/orchestrator/jobs/manage.ts";
import {
  listSchedules,
  listOccurrences,
  pauseSchedule,
  resumeSchedule,
  showSchedule,
} from "../../src/orchestrator/schedules.ts";
import { startDueJobs } from "../../src/supervisor/duties/start-due-jobs.ts";
import { createStepKinds } from "../../src/workflows/registry.ts";
import { openOrchestrator } from "../orchestrator/kit.ts";
import { PROXY_RULES } from "../support/proxy-rules.ts";
import { kindSettings } from "../support/kind-settings.ts";

const SECOND = 1000;
const MINUTE = 60_000;
const HOUR = 3_600_000;
const LANE = "site:a.example";
const COMPLETED = { kind: "completed", artifacts: [], results: [], detail: null } as const;

async function open(t: TestContext) {
  const orchestrator = await openOrchestrator(t);
  const deps = {
    ...orchestrator,
    log: createLog({ level: "debug", pretty: false, write: () => {} }),
    random: systemRandom,
    seal: createSeal("a key that only tests know"),
    policy: PUBLIC_ONLY,
    defaultMaxAttempts: 3,
    siteDefaults: { maxPerSite: 4, minDelayMs: 0 },
    maxConcurrentCrawls: 5,
    retention: { temporaryMs: 86_400_000, keepRuns: 0, keepDays: 0 },
    diskBudget: { bytes: 0, action: "warn" as const },
    respectRobots: true,
    minScheduleMs: 1000,
    extractors: { llm: false, named: async () => [] },
    proxyRules: PROXY_RULES,
    stepKinds: async () => createStepKinds(kindSettings, []),
  };
  await orchestrator.clock.advance(HOUR - (orchestrator.clock.now() % HOUR));
  const begun = orchestrator.clock.now();
  return {
    ...deps,
    begun,
    /** A process that looks after the schedules, from its first look on. */
    process: () => {
      const duty = startDueJobs(deps);
      const { signal } = new AbortController();
      return { look: () => duty.run(signal) };
    },
    scheduled: (schedule: object) => createJob(deps, { target_url: "https://a.example/", schedule }),
    /** What became of each time, oldest first: seconds since the beginning, how many, what. */
    reported: async (jobId: string) =>
      (await listOccurrences(deps, jobId, { limit: 1000 })).toReversed().map(({ at, until, count, outcome }) => {
        const [from, to] = [at, until].map((time) => (Date.parse(time) - begun) / SECOND);
        return `${from === to ? from : `${from}-${to} (${count})`} ${outcome}`;
      }),
    runs: async (jobId: string) => (await orchestrator.store.runs({ jobId, limit: 1000 })).length,
  };
}

describe("the times of a schedule", () => {
  test("of every second: each has its run, and those of a restart are told as missed but for the last", async (t) => {
    const harness = await open(t);
    const job = await harness.scheduled({ cron: "* * * * * *", overlap: "cancel" });
    const first = harness.process();
    await first.look();
    // Two are due at one look: somebody was there for both.
    await harness.clock.advance(2 * SECOND);
    await first.look();
    await harness.clock.advance(5 * SECOND);
    await harness.process().look();
    assert.deepEqual(await harness.reported(job.id), [
      "1 started",
      "2 started",
      "3-5 (3) missed",
      "6 started",
      "7 started",
    ]);
    assert.equal(await harness.runs(job.id), 4);
    await harness.store.sweepEnded(100, harness.clock.now());
  });

  test("a gap of an hour is one record; run_once makes up for it with the last of them", async (t) => {
    const harness = await open(t);
    const skip = await harness.scheduled({ cron: "* * * * *" });
    const once = await harness.scheduled({ cron: "* * * * *", missed: "run_once" });
    await harness.clock.advance(HOUR + 90 * SECOND);
    await harness.process().look();
    // The last one came half a minute ago: it is late, and not missed.
    assert.deepEqual(await harness.reported(skip.id), ["60-3600 (60) missed", "3660 started"]);
    await harness.clock.advance(HOUR);
    await harness.work(LANE, () => COMPLETED);
    await harness.clock.advance(25 * SECOND + 45 * MINUTE);
    const yearly = await harness.scheduled({ cron: "0 0 1 1 *", missed: "run_once" });
    await harness.clock.advance(370 * 24 * HOUR);
    await harness.process().look();
    assert.equal((await harness.reported(yearly.id)).length, 1);
    const [missed, created] = (await listOccurrences(harness, once.id, { limit: 2 })).toReversed();
    assert.deepEqual([missed?.outcome, created?.outcome], ["missed", "started"]);
    assert.match(missed?.message ?? "", /estimate/);
    const passed = Math.round((Date.parse(missed!.until) - Date.parse(missed!.at)) / MINUTE) + 1;
    assert.equal(missed?.count, passed, "of even times the estimate is right");
  });

  test("a clock that is set back, or another schedule, brings no time a second time", async (t) => {
    const harness = await open(t);
    const job = await harness.scheduled({ cron: "* * * * *", overlap: "cancel" });
    const process = harness.process();
    await process.look();
    for (let minute = 0; minute < 10; minute += 1) {
      await harness.clock.advance(MINUTE);
      await process.look();
    }
    const before = await harness.reported(job.id);
    assert.equal(before.length, 10);
    harness.clock.wall -= 5 * MINUTE;
    await process.look();
    const other = await harness.scheduled({ cron: "* * * * *", overlap: "cancel" });
    await changeJob(harness, job.id, { schedule: { cron: "*/1 * * * *", overlap: "cancel" } });
    for (let minute = 0; minute < 5; minute += 1) {
      await harness.clock.advance(MINUTE);
      await process.look();
    }
    assert.deepEqual(await harness.reported(job.id), before);
    assert.equal((await harness.reported(other.id)).length, 5, "a new job has its times as the clock says them");
    await harness.clock.advance(MINUTE);
    await process.look();
    assert.deepEqual(await harness.reported(job.id), [...before, "660 started"]);
    await harness.store.sweepEnded(100, harness.clock.now());
  });

  test("chance moves the start of a time, and not its identity", async (t) => {
    const harness = await open(t);
    const job = await harness.scheduled({ cron: "0 * * * *", jitter_seconds: 1800, overlap: "cancel" });
    const process = harness.process();
    for (let minute = 0; minute < 200; minute += 1) {
      await process.look();
      await harness.clock.advance(MINUTE);
    }
    assert.deepEqual((await harness.reported(job.id)).slice(0, 2), ["3600 started", "7200 started"]);
    const { next_at, next_times } = await showSchedule(harness, job.id);
    assert.ok(Date.parse(next_at!) >= Date.parse(next_times[0]!));
    assert.deepEqual(
      next_times.map((time) => (Date.parse(time) - Date.parse(next_times[0]!)) / HOUR),
      [0, 1, 2, 3, 4],
    );
    await harness.store.sweepEnded(100, harness.clock.now());
  });

  test("a paused schedule starts nothing and misses nothing; resumed, it goes on from then", async (t) => {
    const harness = await open(t);
    const job = await harness.scheduled("* * * * *" as unknown as object);
    await harness.scheduled({ cron: "0 0 * * *" });
    const process = harness.process();
    await process.look();
    const paused = await pauseSchedule(harness, job.id);
    assert.deepEqual([paused.paused, paused.next_at, paused.next_times], [true, null, []]);
    await changeJob(harness, job.id, { schedule: "*/2 * * * *" });
    await harness.clock.advance(30 * MINUTE);
    await process.look();
    assert.deepEqual(await harness.reported(job.id), []);
    const resumed = await resumeSchedule(harness, job.id);
    assert.equal(resumed.next_at, new Date(harness.begun + 32 * MINUTE).toISOString());
    await harness.clock.advance(2 * MINUTE);
    await harness.process().look();
    assert.deepEqual(await harness.reported(job.id), ["1920 started"]);
    assert.equal((await listSchedules(harness, { limit: 10 })).length, 2);
  });

  test("queued runs begin one after the other, each when the one before has ended", async (t) => {
    const harness = await open(t);
    const job = await harness.scheduled({ cron: "* * * * *", overlap: "queue" });
    const process = harness.process();
    await process.look();
    for (let minute = 0; minute < 14; minute += 1) {
      await harness.clock.advance(MINUTE);
      await process.look();
    }
    const { counts } = await showSchedule(harness, job.id);
    assert.deepEqual([counts.started, counts.skipped], [11, 3]);
    for (let run = 0; run < 11; run += 1) {
      const live = (
        await harness.store.runs({ jobId: job.id, status: ["queued", "running"], limit: 100 })
      ).toReversed();
      assert.deepEqual([live.length, live.filter(({ hold }) => hold === null).length], [11 - run, 1]);
      assert.equal(live[0]?.hold, null, "the oldest one goes first");
      await harness.work(LANE, () => COMPLETED);
      await process.look();
    }
    assert.deepEqual((await harness.store.audit()).findings, []);
  });
});
