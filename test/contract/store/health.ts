import assert from "node:assert/strict";
import type { HealthProfile } from "../../../src/domain/health/profile.ts";
import { ProfileBuilder } from "../../../src/domain/health/profile.ts";
import { failure } from "../../../src/domain/run/failure.ts";
import type { PageState } from "../../../src/domain/page/page-change.ts";
import type { NewJob } from "../../../src/store/records/job-records.ts";
import { newJob } from "./jobs.ts";
import { DONE, type Kit, LANE, newTask, NOBODY, refused, type Scenario } from "./kit.ts";

const RULES = "0123456789abcdef";

/** Records of which so many in a hundred have a price. */
function profile(percent: number, title = true): HealthProfile {
  const builder = new ProfileBuilder();
  for (let n = 0; n < 100; n += 1)
    builder.add({ title: title ? `Book ${n}` : null, price: n < percent ? `€ ${n}.90` : null }, `page ${n}`);
  return builder.profile();
}

async function endedRun(kit: Kit, jobId: string): Promise<{ runId: string; generation: number }> {
  kit.pass(1000);
  const run = { kind: "page" as const, maxAttempts: 1, snapshot: {}, jobId };
  const { created } = await kit.store.startRun(run, [newTask("p")], kit.now);
  const lane = await kit.take("A", LANE);
  await kit.work(lane, DONE);
  await kit.store.releaseLane(lane);
  return { runId: created.id, generation: 1 };
}

const make = async (kit: Kit, more: Partial<NewJob> = {}) =>
  (await kit.store.createJob(newJob("prices", more), kit.now)).created.id;

async function record(kit: Kit, jobId: string, found: HealthProfile, rules = RULES) {
  const run = await endedRun(kit, jobId);
  const recorded = await kit.store.recordRunHealth(run, { rules, profile: found }, { deliver: true }, kit.now);
  return { ...run, recorded };
}

/** A job with four good runs. */
async function settled(kit: Kit, more: Partial<NewJob> = {}): Promise<string> {
  const job = await make(kit, more);
  for (let run = 0; run < 4; run += 1) await record(kit, job, profile(98));
  return job;
}

const typesOf = async (kit: Kit, runId: string) =>
  (await kit.store.events(runId, { limit: 100 })).map(({ type }) => type as string);
const alertsOf = async (kit: Kit) => (await kit.store.alerts({ kind: "extraction_degraded", limit: 100 })).length;

/** A crawl of the job in which these pages gave a record; the others failed. */
async function crawled(kit: Kit, jobId: string, read: readonly string[], failed: readonly string[], rules = RULES) {
  kit.pass(1000);
  const run = { kind: "crawl" as const, maxAttempts: 1, snapshot: { options: {} }, jobId };
  const { created } = await kit.store.startRun(
    run,
    [...read, ...failed].map((key) => newTask(key)),
    kit.now,
  );
  await kit.store.admitCrawls(1000, kit.now);
  const lane = await kit.take("A", LANE);
  const { tasks } = await kit.claim(lane);
  const state = (key: string): PageState => {
    const about = { digest: "ab".repeat(16), scopeHash: "cd".repeat(16), isRedirected: false, change: null };
    return { key, url: `https://a.example/${key}`, ...about };
  };
  for (const task of tasks)
    if (read.includes(task.key)) await kit.report(lane, [task], DONE, { page: state(task.key) });
    else await kit.settle(lane, [task], { kind: "failed", failure: failure("field_missing", "no price") });
  await kit.store.releaseLane(lane);
  const { generation } = (await kit.store.run(created.id))!;
  const found = { rules, profile: profile(98) };
  await kit.store.recordRunHealth({ runId: created.id, generation }, found, { deliver: false }, kit.now);
  return created.id;
}

export function healthScenarios(scenario: Scenario): void {
  scenario("pages that one of the last good runs by the same rules read are known, others are not", async (kit) => {
    const job = await make(kit, { kind: "crawl" });
    const knownIn = async (run: string, rules = RULES) => {
      const keys = ["a", "b", "list"];
      const known = await kit.store.pagesReadBefore(run, rules, keys);
      return keys.filter((_, index) => known[index]);
    };
    const first = await crawled(kit, job, ["a", "b"], ["list"]);
    assert.deepEqual(await knownIn(first), [], "the run itself does not count");
    const second = await crawled(kit, job, ["a"], ["b", "list"]);
    assert.deepEqual(await knownIn(second), ["b"], "what it read itself cannot have failed there");
    const other = await crawled(kit, job, ["list"], [], "other-rules");
    assert.deepEqual(await knownIn(other, "other-rules"), []);
    const third = await crawled(kit, job, [], ["a", "b", "list"]);
    assert.deepEqual(await knownIn(third), ["a", "b"], "other rules read the list");
    for (let run = 0; run < 2; run += 1) await crawled(kit, job, ["a"], ["b", "list"]);
    const last = await crawled(kit, job, [], ["a", "b", "list"]);
    assert.deepEqual(await knownIn(last), ["a"], "b has failed in the last three good runs");
    assert.deepEqual(await kit.store.pagesReadBefore(NOBODY, RULES, ["a"]), [false]);
    await kit.expectClean();
  });

  scenario("a run whose records got worse is flagged, once, with its event and its alert", async (kit) => {
    const before = await kit.store.countDegradedRuns();
    const job = await settled(kit);
    const run = await endedRun(kit, job);
    assert.deepEqual(await kit.store.runsWithoutHealth(10), [run]);
    assert.equal((await kit.store.dutiesDue(kit.now)).unprofiledRuns, true);
    const write = () =>
      kit.store.recordRunHealth(run, { rules: RULES, profile: profile(40) }, { deliver: true }, kit.now);
    const written = await Promise.all([write(), write()]);
    assert.equal(written.filter((one) => one !== null).length, 1, "of two that come to it, one writes");
    assert.equal(await write(), null);
    const [reason] = (await kit.store.run(run.runId))?.degraded ?? [];
    assert.deepEqual([reason?.field, reason?.metric, reason?.before, reason?.now], ["price", "coverage", 0.98, 0.4]);
    const events = await kit.store.events(run.runId, { limit: 100, types: ["extraction.degraded"] });
    assert.equal(events.length, 1);
    assert.doesNotMatch(JSON.stringify(events[0]), /€/, "values stay in the store");
    assert.deepEqual([await alertsOf(kit), (await kit.store.countDegradedRuns()) - before], [1, 1]);
    assert.deepEqual(await kit.store.runsWithoutHealth(10), []);
    assert.equal((await kit.store.runs({ jobId: job, limit: 1 }))[0]?.degraded?.length, 1, "lists say it, too");
    await kit.expectClean();
  });

  scenario(
    "degraded runs do not become the usual; the alert is not repeated, until another field is worse",
    async (kit) => {
      const job = await settled(kit);
      for (let run = 0; run < 6; run += 1) assert.ok((await record(kit, job, profile(40))).recorded?.reasons);
      assert.equal(await alertsOf(kit), 1);
      const both = await record(kit, job, profile(40, false));
      assert.deepEqual(both.recorded?.reasons?.map(({ field }) => field).toSorted(), ["price", "title"]);
      assert.equal(await alertsOf(kit), 2);
      assert.equal((await record(kit, job, profile(98))).recorded?.reasons, null);
      assert.ok((await record(kit, job, profile(40))).recorded?.alert, "it was well in between");
      await kit.expectClean();
    },
  );

  scenario("what a person accepts is the new baseline", async (kit) => {
    const job = await settled(kit);
    assert.equal(await kit.store.acceptHealth(job, kit.now), 0, "there is nothing to accept");
    for (let run = 0; run < 3; run += 1) await record(kit, job, profile(40));
    assert.equal(await kit.store.acceptHealth(job, kit.now), 3);
    const list = await kit.store.runHealth(job, { limit: 10 });
    assert.deepEqual(
      list.map(({ isBaseline, acceptedAt }) => [isBaseline, acceptedAt !== null]),
      [...Array.from({ length: 3 }, () => [true, true]), ...Array.from({ length: 4 }, () => [false, false])],
    );
    assert.equal((await record(kit, job, profile(41))).recorded?.reasons, null);
    assert.ok((await record(kit, job, profile(3))).recorded?.alert);
    await refused("not_found", kit.store.acceptHealth(NOBODY, kit.now));
  });

  scenario("the schedule is paused with the run that is degraded, if the job says so", async (kit) => {
    const recipe = { schedule: { cron: "0 6 * * *" } };
    const job = await settled(kit, { recipe, nextAt: kit.now + 9e6, onDegraded: "pause_schedule" });
    const { runId, recorded } = await record(kit, job, profile(40));
    assert.equal(recorded?.pausedSchedule, true);
    const found = await kit.store.job(job);
    assert.deepEqual([found?.schedulePausedAt, found?.nextAt, found?.onDegraded], [kit.now, null, "pause_schedule"]);
    assert.deepEqual((await typesOf(kit, runId)).slice(-2), ["extraction.degraded", "schedule.paused"]);
    const again = await record(kit, job, profile(40));
    assert.equal(again.recorded?.pausedSchedule, false);
    const other = await settled(kit, { recipe, nextAt: kit.now + 9e6 });
    await record(kit, other, profile(40));
    assert.equal((await kit.store.job(other))?.schedulePausedAt, null);
  });

  scenario(
    "a run that fails if it is degraded ends after the comparison, as it was to end or as failed",
    async (kit) => {
      const job = await make(kit, { onDegraded: "fail" });
      for (let run = 0; run < 3; run += 1) {
        const waiting = await endedRun(kit, job);
        const before = await kit.store.run(waiting.runId);
        assert.deepEqual([before?.status, before?.hold?.reason, before?.finishedAt], ["running", "data_quality", null]);
        assert.deepEqual(await kit.store.runsWithoutHealth(10), [waiting]);
        await kit.expectClean();
        const found = { rules: RULES, profile: profile(98) };
        await kit.store.recordRunHealth(waiting, found, { deliver: true }, kit.now);
        const after = await kit.store.run(waiting.runId);
        assert.deepEqual([after?.status, after?.hold, after?.degraded], ["completed", null, null]);
      }
      const bad = await endedRun(kit, job);
      await kit.store.changeRun(bad.runId, "paused", "Run paused", kit.now);
      assert.deepEqual(await kit.store.runsWithoutHealth(10), [], "a paused run does not end");
      await kit.store.changeRun(bad.runId, "running", "Run resumed", kit.now);
      const write = () =>
        kit.store.recordRunHealth(bad, { rules: RULES, profile: profile(40) }, { deliver: true }, kit.now);
      const written = await Promise.all([write(), write()]);
      assert.equal(written.filter((one) => one !== null).length, 1);
      const failed = await kit.store.run(bad.runId);
      assert.deepEqual(
        [failed?.status, failed?.facts.failure_reason, failed?.finishedAt],
        ["failed", "records_degraded", kit.now],
      );
      assert.deepEqual((await typesOf(kit, bad.runId)).slice(-2), ["extraction.degraded", "run.failed"]);
      const again = await record(kit, job, profile(40));
      assert.ok(again.recorded?.alert, "each failed run is reported");
      const withoutRules = await endedRun(kit, job);
      await kit.store.recordRunHealth(withoutRules, null, { deliver: false }, kit.now);
      assert.equal((await kit.store.run(withoutRules.runId))?.status, "completed");
      const cancelled = await endedRun(kit, job);
      await kit.store.changeRun(cancelled.runId, "cancelled", "Run cancelled", kit.now);
      assert.deepEqual(await kit.store.runsWithoutHealth(10), []);
      await kit.expectClean();
    },
  );

  scenario("other rules are another history; a run without rules is looked at once", async (kit) => {
    const job = await settled(kit);
    assert.equal((await record(kit, job, profile(40), "another")).recorded?.reasons, null);
    const run = await endedRun(kit, job);
    assert.deepEqual(await kit.store.recordRunHealth(run, null, { deliver: false }, kit.now), {
      reasons: null,
      alert: null,
      pausedSchedule: false,
      lanes: [],
    });
    assert.deepEqual(await kit.store.runsWithoutHealth(10), []);
    assert.equal((await kit.store.runHealth(job, { limit: 10 })).length, 5);
  });

  scenario("a run that is opened again is compared again when it ends, and says nothing meanwhile", async (kit) => {
    const job = await settled(kit);
    const { runId } = await record(kit, job, profile(40));
    await kit.store.enqueue(runId, [newTask("q")], kit.now);
    assert.equal((await kit.store.run(runId))?.degraded, null);
    assert.deepEqual(await kit.store.runsWithoutHealth(10), []);
    const lane = await kit.take("A", LANE);
    await kit.work(lane, DONE);
    await kit.store.releaseLane(lane);
    assert.deepEqual(await kit.store.runsWithoutHealth(10), [{ runId, generation: 2 }]);
    const found = { rules: RULES, profile: profile(97) };
    assert.equal(
      await kit.store.recordRunHealth({ runId, generation: 1 }, found, { deliver: true }, kit.now),
      null,
      "what was read before is not written",
    );
    await kit.store.recordRunHealth({ runId, generation: 2 }, found, { deliver: true }, kit.now);
    assert.equal((await kit.store.runHealth(job, { limit: 10 }))[0]?.reasons, null);
    await kit.expectClean();
  });

  scenario("profiles go with their runs", async (kit) => {
    const before = await kit.store.countDegradedRuns();
    const job = await settled(kit);
    const { runId } = await record(kit, job, profile(40));
    await kit.store.deleteRun(runId, kit.now);
    assert.equal((await kit.store.runHealth(job, { limit: 10 })).length, 4);
    await kit.store.deleteJob(job, kit.now, { runs: true });
    while (await kit.store.advanceDeletions(10, kit.now));
    while ((await kit.store.removeExpired(3)) > 0) await kit.expectClean();
    assert.deepEqual(await kit.store.runHealth(job, { limit: 10 }), []);
    assert.equal((await kit.store.countDegradedRuns()) - before, 1, "a counter does not fall");
  });
}
