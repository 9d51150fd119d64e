import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import { OrbError } from "../../src/base/errors.ts";
import { createLog } from "../../src/base/log.ts";
import { systemRandom } from "../../src/base/random.ts";
import { createSeal } from "../../src/base/seal.ts";
import { failure } from "../../src/domain/run/failure.ts";
import { laneOfStep } from "../../src/domain/workflow/definition.ts";
import { PUBLIC_ONLY } from "../../src/net/address.ts";
import { createJob, showJob } from "../../src/orchestrator/jobs/manage.ts";
import type { Store } from "../../src/store/ports/port.ts";
import type { Duty } from "../../src/supervisor/duties.ts";
import { createStepKinds } from "../../src/workflows/registry.ts";
import { startDueJobs } from "../../src/supervisor/duties/start-due-jobs.ts";
import { openOrchestrator } from "../orchestrator/kit.ts";
import { kindSettings } from "../support/kind-settings.ts";
import { PROXY_RULES } from "../support/proxy-rules.ts";

const HOUR = 3_600_000;
const LANE = "site:a.example";

async function open(t: TestContext) {
  const orchestrator = await openOrchestrator(t);
  const said: string[] = [];
  const log = createLog({ level: "debug", pretty: false, write: (line) => void said.push(line) });
  const deps = {
    ...orchestrator,
    log,
    random: systemRandom,
    seal: createSeal("a key that only tests know"),
    policy: PUBLIC_ONLY,
    defaultMaxAttempts: 3,
    siteDefaults: { maxPerSite: 4, minDelayMs: 0 },
    proxyRules: PROXY_RULES,
    maxConcurrentCrawls: 5,
    retention: { temporaryMs: 86_400_000, keepRuns: 0, keepDays: 0 },
    diskBudget: { bytes: 0, action: "warn" as const },
    respectRobots: true,
    minScheduleMs: 1000,
    extractors: { llm: false, named: async () => [] },
    stepKinds: async () => createStepKinds(kindSettings, []),
  };
  // A full hour, so that the slots are easy to name.
  await orchestrator.clock.advance(HOUR - (orchestrator.clock.now() % HOUR));
  const { signal } = new AbortController();
  const callable = (duty: Duty) => ({ run: () => duty.run(signal) });
  return {
    ...deps,
    said,
    duty: callable(startDueJobs(deps)),
    /** The duty over a store of which some verbs do other than they should. */
    dutyOver: (verbs: Partial<Store>) =>
      callable(startDueJobs({ ...deps, store: { ...orchestrator.store, ...verbs } })),
    hourly: (more: object = {}) =>
      createJob(deps, { target_url: "https://a.example/", schedule: { cron: "0 * * * *", ...more } }),
    runs: async (jobId: string) => (await orchestrator.store.runs({ jobId, limit: 100 })).map(({ status }) => status),
  };
}

describe("a job with a schedule", () => {
  test("starts at its times, once each, whoever looks how often", async (t) => {
    const harness = await open(t);
    const job = await harness.hourly({ overlap: "queue" });
    assert.equal(job.next_run_at, new Date(harness.clock.now() + HOUR).toISOString());
    await harness.duty.run();
    assert.deepEqual(await harness.runs(job.id), []);
    for (let hour = 1; hour <= 3; hour += 1) {
      await harness.clock.advance(HOUR);
      await Promise.all([harness.duty.run(), harness.duty.run()]);
      await harness.duty.run();
      assert.equal((await harness.runs(job.id)).length, hour);
    }
    assert.equal((await showJob(harness, job.id)).next_run_at, new Date(harness.clock.now() + HOUR).toISOString());
  });

  test("a run that is not at its end keeps the next one from starting, unless the job says otherwise", async (t) => {
    const harness = await open(t);
    const skip = await harness.hourly();
    const queue = await harness.hourly({ overlap: "queue" });
    const cancel = await harness.hourly({ overlap: "cancel" });
    for (let hour = 0; hour < 2; hour += 1) {
      await harness.clock.advance(HOUR);
      await harness.duty.run();
    }
    assert.deepEqual(await harness.runs(skip.id), ["queued"]);
    assert.deepEqual(await harness.runs(queue.id), ["queued", "queued"]);
    assert.deepEqual(await harness.runs(cancel.id), ["queued", "cancelled"]);
    await harness.work(LANE, () => ({ kind: "completed", artifacts: [], results: [], detail: null }));
    await harness.clock.advance(HOUR);
    await harness.duty.run();
    assert.deepEqual(await harness.runs(skip.id), ["queued", "completed"]);
    assert.deepEqual((await harness.store.audit()).findings, []);
  });

  test("slots that were missed are skipped with a word in the log, or made up for once", async (t) => {
    const harness = await open(t);
    const skip = await harness.hourly();
    const once = await harness.hourly({ missed: "run_once" });
    await harness.clock.advance(5.5 * HOUR);
    await harness.duty.run();
    await harness.duty.run();
    assert.deepEqual([await harness.runs(skip.id), await harness.runs(once.id)], [[], ["queued"]]);
    assert.match(harness.said.join(""), /missed and is skipped/);
    assert.equal((await showJob(harness, skip.id)).next_run_at, new Date(harness.clock.now() + HOUR / 2).toISOString());
  });

  test("may be a workflow, made from its template as it is then; what is no longer valid passes with a word", async (t) => {
    const harness = await open(t);
    const version = (name: string, required: string[]) => ({
      name,
      params: { type: "object", properties: { who: { type: "string" } }, required },
      steps: [{ name: "rest", task_type: "wait", params: { seconds: 1 } }],
    });
    await harness.store.putTemplate("nightly", version("Old", []), 1, harness.clock.now());
    const job = await createJob(harness, {
      kind: "workflow",
      workflow: { template: "nightly" },
      schedule: "0 * * * *",
    });
    await harness.store.putTemplate("nightly", version("New", []), 1, harness.clock.now());
    await harness.clock.advance(HOUR);
    await harness.duty.run();
    const [run] = await harness.store.workflows({ jobId: job.id, limit: 10 });
    assert.deepEqual([run?.run.status, run?.template], ["running", { name: "nightly", version: 2 }]);
    await harness.work(laneOfStep(run!.run.id, 0), () => ({
      kind: "completed",
      artifacts: [],
      results: [],
      detail: { output: {}, items: null },
    }));
    await harness.store.putTemplate("nightly", version("Asks", ["who"]), 1, harness.clock.now());
    await harness.clock.advance(HOUR);
    await harness.duty.run();
    await harness.duty.run();
    assert.deepEqual(await harness.runs(job.id), ["completed"]);
    const warnings = harness.said.filter((line) => line.includes("is no longer valid"));
    assert.equal(warnings.length, 1, "once, and not at every look");
    assert.match(warnings[0] ?? "", /workflow\.params\.who/);
    assert.equal((await showJob(harness, job.id)).next_run_at, new Date(harness.clock.now() + HOUR).toISOString());
    assert.deepEqual((await harness.store.audit()).findings, []);
  });

  test("a workflow whose template cannot be read just now starts at the next look", async (t) => {
    const harness = await open(t);
    const steps = [{ name: "rest", task_type: "wait", params: { seconds: 1 } }];
    await harness.store.putTemplate("nightly", { name: "Nightly", steps }, 1, harness.clock.now());
    const job = await createJob(harness, {
      kind: "workflow",
      workflow: { template: "nightly" },
      schedule: "0 * * * *",
    });
    await harness.clock.advance(HOUR);
    const busy = new OrbError("database_busy", "another process locked the database for too long");
    await harness.dutyOver({ template: () => Promise.reject(busy) }).run();
    assert.deepEqual(await harness.runs(job.id), []);
    await harness.duty.run();
    assert.deepEqual(await harness.runs(job.id), ["running"]);
  });

  test("a process that died after starting the run does not start it again", async (t) => {
    const harness = await open(t);
    const job = await harness.hourly({ overlap: "queue" });
    await harness.clock.advance(HOUR);
    const slot = (await harness.store.job(job.id))!.nextAt!;
    await harness.duty.run();
    // As if it had not come to that.
    await harness.store.updateJob(job.id, { nextAt: slot, nextOccurrenceAt: slot }, harness.clock.now());
    await harness.duty.run();
    assert.equal((await harness.runs(job.id)).length, 1);
  });

  for (const overlap of ["skip", "queue", "cancel"] as const)
    for (const when of ["before it was done", "after it was done"])
      test(`a slot that breaks ${when} starts one run that goes on, with overlap ${overlap}`, async (t) => {
        const harness = await open(t);
        const job = await harness.hourly({ overlap });
        let broken = 0;
        const breakOnce =
          <A extends unknown[], R>(verb: (...args: A) => Promise<R>) =>
          async (...args: A): Promise<R> => {
            if (broken > 0) return verb(...args);
            broken += 1;
            if (when === "after it was done") await verb(...args);
            throw new OrbError("database_busy", "another process locked the database for too long");
          };
        const { skipOccurrences, startOccurrence } = harness.store;
        const duty = harness.dutyOver({
          skipOccurrences: breakOnce(skipOccurrences),
          startOccurrence: breakOnce(startOccurrence),
        });
        await harness.clock.advance(HOUR);
        await duty.run();
        assert.equal(broken, 1);
        await duty.run();
        assert.deepEqual(await harness.runs(job.id), ["queued"]);
        assert.equal((await showJob(harness, job.id)).next_run_at, new Date(harness.clock.now() + HOUR).toISOString());
      });

  test("a job that cannot be started does not keep others from theirs, and is named in the log", async (t) => {
    const harness = await open(t);
    const bad = await harness.hourly();
    const good = await harness.hourly();
    let broken = true;
    const duty = harness.dutyOver({
      startOccurrence: (run, tasks, slot, now) =>
        broken && run.jobId === bad.id
          ? Promise.reject(new Error("this one is broken"))
          : harness.store.startOccurrence(run, tasks, slot, now),
    });
    await harness.clock.advance(HOUR);
    await duty.run();
    assert.deepEqual([await harness.runs(bad.id), await harness.runs(good.id)], [[], ["queued"]]);
    const warning = harness.said.find((line) => line.includes("this one is broken"));
    assert.match(warning ?? "", new RegExp(`"level":"warn".*${bad.id}`));
    // It was seen in time: that it starts minutes of errors later does not make it missed.
    for (let minute = 0; minute < 5; minute += 1) {
      await harness.clock.advance(60_000);
      await duty.run();
    }
    broken = false;
    await duty.run();
    assert.deepEqual(await harness.runs(bad.id), ["queued"]);
  });

  test("thousands of jobs of one hour all start, however long that takes [slow]", async (t) => {
    const harness = await open(t);
    const many = 450;
    const ids: string[] = [];
    for (let n = 0; n < many; n += 1) ids.push((await harness.hourly()).id);
    await harness.clock.advance(HOUR);
    const later = await harness.hourly({ cron: "1 * * * *" });
    const duty = harness.dutyOver({
      // Each page of them takes a minute.
      dueJobs: async (...args) => {
        const due = await harness.store.dueJobs(...args);
        if (due.length > 0) await harness.clock.advance(60_000);
        return due;
      },
    });
    await duty.run();
    await duty.run();
    for (const id of [...ids, later.id]) assert.deepEqual(await harness.runs(id), ["queued"]);
    assert.doesNotMatch(harness.said.join(""), /missed/);
  });

  test("a machine that slept through a slot has missed it", async (t) => {
    const harness = await open(t);
    const job = await harness.hourly();
    await harness.duty.run();
    await harness.clock.advance(HOUR + 61_000);
    await harness.duty.run();
    assert.deepEqual(await harness.runs(job.id), []);
    assert.match(harness.said.join(""), /missed and is skipped/);
  });

  test("a run that waits for a person and keeps its schedule from going on is a warning that says what to do", async (t) => {
    const harness = await open(t);
    const job = await harness.hourly();
    await harness.clock.advance(HOUR);
    await harness.duty.run();
    const wall = failure("captcha_page", "the page asks for a captcha");
    await harness.work(LANE, () => ({ kind: "human", failure: wall }));
    assert.deepEqual(await harness.runs(job.id), ["waiting_for_human"]);
    await harness.clock.advance(HOUR);
    await harness.duty.run();
    const [run] = await harness.store.runs({ jobId: job.id, limit: 1 });
    const warning = harness.said.find((line) => line.includes("waits for a person")) ?? "";
    assert.match(warning, /"level":"warn"/);
    assert.ok(warning.includes(`orb runs resolve ${run?.id}`), warning);
    assert.deepEqual(await harness.runs(job.id), ["waiting_for_human"]);
  });
});
