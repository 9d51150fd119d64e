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
    const place = await open(t);
    const job = await place.hourly({ overlap: "queue" });
    assert.equal(job.next_run_at, new Date(place.clock.now() + HOUR).toISOString());
    await place.duty.run();
    assert.deepEqual(await place.runs(job.id), []);
    for (let hour = 1; hour <= 3; hour += 1) {
      await place.clock.advance(HOUR);
      await Promise.all([place.duty.run(), place.duty.run()]);
      await place.duty.run();
      assert.equal((await place.runs(job.id)).length, hour);
    }
    assert.equal((await showJob(place, job.id)).next_run_at, new Date(place.clock.now() + HOUR).toISOString());
  });

  test("a run that is not at its end keeps the next one from starting, unless the job says otherwise", async (t) => {
    const place = await open(t);
    const skip = await place.hourly();
    const queue = await place.hourly({ overlap: "queue" });
    const cancel = await place.hourly({ overlap: "cancel" });
    for (let hour = 0; hour < 2; hour += 1) {
      await place.clock.advance(HOUR);
      await place.duty.run();
    }
    assert.deepEqual(await place.runs(skip.id), ["queued"]);
    assert.deepEqual(await place.runs(queue.id), ["queued", "queued"]);
    assert.deepEqual(await place.runs(cancel.id), ["queued", "cancelled"]);
    await place.work(LANE, () => ({ kind: "completed", artifacts: [], results: [], detail: null }));
    await place.clock.advance(HOUR);
    await place.duty.run();
    assert.deepEqual(await place.runs(skip.id), ["queued", "completed"]);
    assert.deepEqual((await place.store.audit()).findings, []);
  });

  test("slots that were missed are skipped with a word in the log, or made up for once", async (t) => {
    const place = await open(t);
    const skip = await place.hourly();
    const once = await place.hourly({ missed: "run_once" });
    await place.clock.advance(5.5 * HOUR);
    await place.duty.run();
    await place.duty.run();
    assert.deepEqual([await place.runs(skip.id), await place.runs(once.id)], [[], ["queued"]]);
    assert.match(place.said.join(""), /missed and is skipped/);
    assert.equal((await showJob(place, skip.id)).next_run_at, new Date(place.clock.now() + HOUR / 2).toISOString());
  });

  test("may be a workflow, made from its template as it is then; what does not hold any more passes with a word", async (t) => {
    const place = await open(t);
    const version = (name: string, required: string[]) => ({
      name,
      params: { type: "object", properties: { who: { type: "string" } }, required },
      steps: [{ name: "rest", task_type: "wait", params: { seconds: 1 } }],
    });
    await place.store.putTemplate("nightly", version("Old", []), 1, place.clock.now());
    const job = await createJob(place, { kind: "workflow", workflow: { template: "nightly" }, schedule: "0 * * * *" });
    await place.store.putTemplate("nightly", version("New", []), 1, place.clock.now());
    await place.clock.advance(HOUR);
    await place.duty.run();
    const [run] = await place.store.workflows({ jobId: job.id, limit: 10 });
    assert.deepEqual([run?.run.status, run?.template], ["running", { name: "nightly", version: 2 }]);
    await place.work(laneOfStep(run!.run.id, 0), () => ({
      kind: "completed",
      artifacts: [],
      results: [],
      detail: { output: {}, items: null },
    }));
    await place.store.putTemplate("nightly", version("Asks", ["who"]), 1, place.clock.now());
    await place.clock.advance(HOUR);
    await place.duty.run();
    await place.duty.run();
    assert.deepEqual(await place.runs(job.id), ["completed"]);
    const warnings = place.said.filter((line) => line.includes("does not hold any more"));
    assert.equal(warnings.length, 1, "once, and not at every look");
    assert.match(warnings[0] ?? "", /workflow\.params\.who/);
    assert.equal((await showJob(place, job.id)).next_run_at, new Date(place.clock.now() + HOUR).toISOString());
    assert.deepEqual((await place.store.audit()).findings, []);
  });

  test("a workflow whose template cannot be read just now starts at the next look", async (t) => {
    const place = await open(t);
    const steps = [{ name: "rest", task_type: "wait", params: { seconds: 1 } }];
    await place.store.putTemplate("nightly", { name: "Nightly", steps }, 1, place.clock.now());
    const job = await createJob(place, { kind: "workflow", workflow: { template: "nightly" }, schedule: "0 * * * *" });
    await place.clock.advance(HOUR);
    const busy = new OrbError("database_busy", "another process kept the database locked for too long");
    await place.dutyOver({ template: () => Promise.reject(busy) }).run();
    assert.deepEqual(await place.runs(job.id), []);
    await place.duty.run();
    assert.deepEqual(await place.runs(job.id), ["running"]);
  });

  test("a process that died after starting the run does not start it again", async (t) => {
    const place = await open(t);
    const job = await place.hourly({ overlap: "queue" });
    await place.clock.advance(HOUR);
    const slot = (await place.store.job(job.id))!.nextAt!;
    await place.duty.run();
    // As if it had not come to that.
    await place.store.updateJob(job.id, { nextAt: slot, nextOccurrenceAt: slot }, place.clock.now());
    await place.duty.run();
    assert.equal((await place.runs(job.id)).length, 1);
  });

  for (const overlap of ["skip", "queue", "cancel"] as const)
    for (const when of ["before it was done", "after it was done"])
      test(`a slot that breaks ${when} starts one run that goes on, with overlap ${overlap}`, async (t) => {
        const place = await open(t);
        const job = await place.hourly({ overlap });
        let broken = 0;
        const breakOnce =
          <A extends unknown[], R>(verb: (...args: A) => Promise<R>) =>
          async (...args: A): Promise<R> => {
            if (broken > 0) return verb(...args);
            broken += 1;
            if (when === "after it was done") await verb(...args);
            throw new OrbError("database_busy", "another process kept the database locked for too long");
          };
        const { skipOccurrences, startOccurrence } = place.store;
        const duty = place.dutyOver({
          skipOccurrences: breakOnce(skipOccurrences),
          startOccurrence: breakOnce(startOccurrence),
        });
        await place.clock.advance(HOUR);
        await duty.run();
        assert.equal(broken, 1);
        await duty.run();
        assert.deepEqual(await place.runs(job.id), ["queued"]);
        assert.equal((await showJob(place, job.id)).next_run_at, new Date(place.clock.now() + HOUR).toISOString());
      });

  test("a job that cannot be started does not keep others from theirs, and is named in the log", async (t) => {
    const place = await open(t);
    const bad = await place.hourly();
    const good = await place.hourly();
    let broken = true;
    const duty = place.dutyOver({
      startOccurrence: (run, tasks, slot, now) =>
        broken && run.jobId === bad.id
          ? Promise.reject(new Error("this one is broken"))
          : place.store.startOccurrence(run, tasks, slot, now),
    });
    await place.clock.advance(HOUR);
    await duty.run();
    assert.deepEqual([await place.runs(bad.id), await place.runs(good.id)], [[], ["queued"]]);
    const warning = place.said.find((line) => line.includes("this one is broken"));
    assert.match(warning ?? "", new RegExp(`"level":"warn".*${bad.id}`));
    // It was seen in time: that it starts minutes of errors later does not make it missed.
    for (let minute = 0; minute < 5; minute += 1) {
      await place.clock.advance(60_000);
      await duty.run();
    }
    broken = false;
    await duty.run();
    assert.deepEqual(await place.runs(bad.id), ["queued"]);
  });

  test("thousands of jobs of one hour all start, however long that takes [slow]", async (t) => {
    const place = await open(t);
    const many = 450;
    const ids: string[] = [];
    for (let n = 0; n < many; n += 1) ids.push((await place.hourly()).id);
    await place.clock.advance(HOUR);
    const later = await place.hourly({ cron: "1 * * * *" });
    const duty = place.dutyOver({
      // Each page of them takes a minute.
      dueJobs: async (...args) => {
        const due = await place.store.dueJobs(...args);
        if (due.length > 0) await place.clock.advance(60_000);
        return due;
      },
    });
    await duty.run();
    await duty.run();
    for (const id of [...ids, later.id]) assert.deepEqual(await place.runs(id), ["queued"]);
    assert.doesNotMatch(place.said.join(""), /missed/);
  });

  test("a machine that slept through a slot has missed it", async (t) => {
    const place = await open(t);
    const job = await place.hourly();
    await place.duty.run();
    await place.clock.advance(HOUR + 61_000);
    await place.duty.run();
    assert.deepEqual(await place.runs(job.id), []);
    assert.match(place.said.join(""), /missed and is skipped/);
  });

  test("a run that waits for a person and keeps its schedule from going on is a warning that says what to do", async (t) => {
    const place = await open(t);
    const job = await place.hourly();
    await place.clock.advance(HOUR);
    await place.duty.run();
    const wall = failure("captcha_page", "the page asks for a captcha");
    await place.work(LANE, () => ({ kind: "human", failure: wall }));
    assert.deepEqual(await place.runs(job.id), ["waiting_for_human"]);
    await place.clock.advance(HOUR);
    await place.duty.run();
    const [run] = await place.store.runs({ jobId: job.id, limit: 1 });
    const warning = place.said.find((line) => line.includes("waits for a person")) ?? "";
    assert.match(warning, /"level":"warn"/);
    assert.ok(warning.includes(`orb runs resolve ${run?.id}`), warning);
    assert.deepEqual(await place.runs(job.id), ["waiting_for_human"]);
  });
});
