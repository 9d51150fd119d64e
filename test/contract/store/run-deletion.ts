import assert from "node:assert/strict";
import type { RunRecord } from "../../../src/store/ports/port.ts";
import type { DeletionFilter } from "../../../src/store/ports/retention-port.ts";
import {
  DONE,
  FAILED,
  type Kit,
  LANE,
  newTask,
  NOBODY,
  refused,
  type Scenario,
  temporary,
  type Verdict,
} from "./kit.ts";
import { newWorkflow, workOn } from "./workflow-kit.ts";

const DAY = 86_400_000;
const DEFAULTS = { keepRuns: 0, keepDays: 0 };

const file = (letter: string) => ({ hash: letter.repeat(64), size: 3, contentType: null, url: "https://a.example/" });
const withFile = (letter: string) => ({ ...DONE, artifacts: [file(letter)], results: [{ n: 1 }] }) as typeof DONE;

async function newJob(kit: Kit, more: { keepRuns?: number; keepDays?: number; tags?: string[]; kind?: string } = {}) {
  const about = {
    name: null,
    url: "https://a.example/",
    site: "a.example",
    recipe: {},
    nextAt: null,
    nextOccurrenceAt: null,
  };
  const { created } = await kit.store.createJob({ ...about, kind: "page", tags: [], ...more }, kit.now);
  return created.id;
}

async function endedPage(kit: Kit, jobId?: string, verdict: Verdict = DONE): Promise<RunRecord> {
  kit.pass(1000);
  const run = { kind: "page" as const, maxAttempts: 1, snapshot: {}, ...(jobId === undefined ? {} : { jobId }) };
  const { created } = await kit.store.startRun(run, [newTask("p")], kit.now);
  const lane = await kit.take("A", LANE);
  await kit.work(lane, verdict);
  await kit.store.releaseLane(lane);
  return (await kit.store.run(created.id))!;
}

async function trim(kit: Kit, defaults = DEFAULTS, since = 0): Promise<number> {
  let hidden = 0;
  for (let after: number | null = 0; after !== null;) {
    const part = await kit.store.trimJobs({ defaults, after, since, limit: 2 }, kit.now);
    hidden += part.hidden;
    if (!part.isMore) after = part.last;
  }
  return hidden;
}

async function removeAll(kit: Kit): Promise<void> {
  while ((await kit.store.removeExpired(3)) > 0) await kit.expectClean();
}

async function left(kit: Kit): Promise<string[]> {
  return (await kit.store.runs({ limit: 100 })).map(({ id }) => id).toReversed();
}

async function deleteAll(kit: Kit, filter: DeletionFilter, limit = 2) {
  const { id, matched } = await kit.store.createDeletion(filter, kit.now);
  while (await kit.store.advanceDeletions(limit, kit.now)) await kit.expectClean();
  const { deleted, finishedAt } = (await kit.store.deletion(id))!;
  assert.equal(finishedAt, kit.now);
  return { matched, deleted };
}

export function runDeletionScenarios(scenario: Scenario): void {
  scenario("a run that is deleted is gone at once, and nothing of it is left", async (kit) => {
    const [gone, other] = [await endedPage(kit, undefined, withFile("a")), await endedPage(kit)];
    await kit.store.deleteRun(gone.id, kit.now);
    assert.equal(await kit.store.run(gone.id), null);
    await refused("not_found", kit.store.deleteRun(gone.id, kit.now));
    await refused("not_found", kit.store.deleteRun(NOBODY, kit.now));
    assert.equal(await kit.store.countRemoving(10), 1);
    await removeAll(kit);
    assert.equal(await kit.store.countRemoving(10), 0);
    assert.deepEqual(await left(kit), [other.id]);
    assert.deepEqual((await kit.store.orphanedFiles({ limit: 10 })).orphaned, ["a".repeat(64)]);
  });

  scenario("what has not ended, what a step has started and the queue's own run are not deleted", async (kit) => {
    const open = await kit.page();
    await refused("illegal_transition", kit.store.deleteRun(open.id, kit.now));
    await kit.store.changeRun(open.id, "cancelled", "Run cancelled", kit.now);
    await kit.store.deleteRun(open.id, kit.now);
    const queue = await kit.store.openRun({ kind: "queue", alias: "queue", maxAttempts: 1, snapshot: null }, kit.now);
    await kit.enqueue(queue, ["a"]);
    const lane = await kit.take("A");
    await kit.work(lane, DONE);
    await refused("illegal_transition", kit.store.deleteRun(queue.id, kit.now));
    const flow = await newWorkflow(kit, { a: [] });
    const child = { run: { kind: "page", maxAttempts: 1, snapshot: null }, tasks: [newTask("c")] } as const;
    await workOn(kit, flow, "a", { kind: "wait", sleep: { memory: null, until: null, child } });
    await kit.work(lane, DONE);
    await kit.store.releaseLane(lane);
    await workOn(kit, flow, "a", DONE);
    const [part] = (await kit.store.steps(flow.id))[0]?.childRuns ?? [];
    await refused("illegal_transition", kit.store.deleteRun(part ?? "", kit.now));
    await kit.store.deleteRun(flow.id, kit.now);
    assert.equal(await kit.store.run(part ?? ""), null, "it goes with its workflow");
    // Nor does a policy, or a deletion of all, take the queue's.
    kit.pass(DAY);
    await kit.store.expireRuns({ temporaryBefore: kit.now, endedBefore: kit.now }, 10, kit.now);
    await deleteAll(kit, {});
    assert.deepEqual(await left(kit), [queue.id]);
    await kit.store.sweepEnded(100, kit.now);
    await removeAll(kit);
  });

  scenario("a run that is kept stays, whatever the policies say, until that is taken back", async (kit) => {
    const job = await newJob(kit, { keepRuns: 1 });
    const first = await endedPage(kit, job);
    await endedPage(kit, job);
    await kit.store.keepRun(first.id, true);
    assert.equal((await kit.store.run(first.id))?.kept, true);
    const page = { kind: "page", maxAttempts: 1, snapshot: {}, temporary: true } as const;
    const { created: brief } = await kit.store.startRun(page, [newTask("b")], kit.now);
    await kit.work(await kit.take("A"), DONE);
    await kit.store.keepRun(brief.id, true);
    kit.pass(DAY);
    assert.equal(await kit.store.expireRuns({ temporaryBefore: kit.now, endedBefore: kit.now }, 10, kit.now), 0);
    assert.equal(await trim(kit), 0);
    assert.equal((await deleteAll(kit, {})).deleted, 1, "only the one that nobody asked to keep");
    assert.equal(await kit.store.expireOldest(10, kit.now), 0);
    await kit.store.keepRun(brief.id, false);
    assert.equal(await kit.store.expireRuns(temporary(kit.now), 10, kit.now), 1);
    await refused("not_found", kit.store.keepRun(brief.id, true));
    await removeAll(kit);
    assert.deepEqual(await left(kit), [first.id]);
  });

  scenario("a job keeps its newest runs, and the last completed one in any case", async (kit) => {
    const job = await newJob(kit, { keepRuns: 2 });
    const other = await newJob(kit);
    const runs: RunRecord[] = [];
    for (const verdict of [DONE, DONE, FAILED, FAILED, FAILED]) runs.push(await endedPage(kit, job, verdict));
    const others = [await endedPage(kit, other), await endedPage(kit, other), await endedPage(kit)];
    assert.equal(await trim(kit), 2);
    const expected = [runs[1], runs[3], runs[4], ...others].map((run) => run?.id);
    assert.deepEqual(await left(kit), expected);
    assert.equal(await trim(kit), 0);
    assert.equal(await trim(kit, { keepRuns: 1, keepDays: 0 }), 1, "of the job that says nothing itself");
    await removeAll(kit);
    assert.equal((await kit.store.run(runs[1]!.id))?.jobKeepRuns, 2);
  });

  scenario("a job keeps runs for some days, and what it says is stronger than what holds for all", async (kit) => {
    const [week, ever] = [
      await newJob(kit, { keepDays: 7, keepRuns: 0 }),
      await newJob(kit, { keepDays: 0, keepRuns: 0 }),
    ];
    const old = await endedPage(kit, week);
    const kept = await endedPage(kit, ever);
    await endedPage(kit, ever);
    kit.pass(6 * DAY);
    const last = await endedPage(kit, week);
    assert.equal(await trim(kit, { keepRuns: 1, keepDays: 1 }), 0);
    kit.pass(DAY);
    assert.equal(await trim(kit, { keepRuns: 1, keepDays: 1 }), 1);
    assert.equal(await kit.store.run(old.id), null);
    assert.notEqual(await kit.store.run(kept.id), null);
    kit.pass(100 * DAY);
    assert.equal(await trim(kit), 0, "the last completed one stays");
    assert.notEqual(await kit.store.run(last.id), null);
    await kit.store.updateJob(week, { keepDays: null, keepRuns: 5 }, kit.now);
    assert.deepEqual([(await kit.store.job(week))?.keepDays, (await kit.store.job(week))?.keepRuns], [null, 5]);
  });

  scenario("jobs without new runs are not looked at, unless all are", async (kit) => {
    const job = await newJob(kit, { keepRuns: 1 });
    for (let n = 0; n < 3; n += 1) await endedPage(kit, job);
    assert.equal(await trim(kit, DEFAULTS, await kit.store.lastRunNumber()), 0);
    assert.equal(await trim(kit), 2);
  });

  scenario("many runs are deleted by what they are, a few at a time, and what comes later stays", async (kit) => {
    const tagged = await newJob(kit, { tags: ["shop"] });
    const failed: RunRecord[] = [];
    for (let n = 0; n < 5; n += 1) failed.push(await endedPage(kit, tagged, FAILED));
    const good = await endedPage(kit, tagged);
    const plain = await endedPage(kit, undefined, FAILED);
    assert.equal(await kit.store.countDeletable({ tag: "shop", status: ["failed"] }), 5);
    assert.equal(await kit.store.countDeletable({ endedBefore: failed[2]!.finishedAt! }), 2);
    const open = await kit.page();
    const { id } = await kit.store.createDeletion({ tag: "shop", status: ["failed"] }, kit.now);
    assert.equal(await kit.store.advanceDeletions(2, kit.now), true);
    const half = (await kit.store.deletion(id))!;
    assert.deepEqual([half.matched, half.deleted, half.finishedAt], [5, 2, null]);
    const later = await endedPageBeside(kit, tagged);
    const second = await kit.open();
    while (await second.advanceDeletions(2, kit.now)) await kit.expectClean();
    assert.equal(await kit.store.advanceDeletions(2, kit.now), false);
    assert.deepEqual((await kit.store.deletion(id))?.deleted, 5);
    assert.deepEqual(await left(kit), [good.id, plain.id, open.id, later.id]);
    assert.deepEqual(await deleteAll(kit, { ids: [plain.id, NOBODY] }), { matched: 1, deleted: 1 });
    assert.deepEqual(
      (await kit.store.deletions(10)).map(({ deleted }) => deleted),
      [1, 5],
    );
    assert.equal(await kit.store.deletion(NOBODY), null);
    await removeAll(kit);
  });

  scenario("a job is deleted with its runs, those that are kept as well", async (kit) => {
    const [job, other] = [await newJob(kit), await newJob(kit)];
    const kept = await endedPage(kit, job);
    await kit.store.keepRun(kept.id, true);
    await endedPage(kit, job);
    const stays = await endedPage(kit, other);
    const deletion = await kit.store.deleteJob(job, kit.now, { runs: true });
    assert.deepEqual([deletion?.matched, deletion?.filter.jobId], [2, job]);
    assert.equal(await kit.store.deleteJob(other, kit.now), null);
    while (await kit.store.advanceDeletions(10, kit.now));
    assert.deepEqual(await left(kit), [stays.id]);
    assert.equal((await kit.store.run(stays.id))?.jobDeletedAt, kit.now);
    await removeAll(kit);
  });

  scenario(
    "what is stored is measured, each content once, and when it was near a budget first is known",
    async (kit) => {
      await endedPage(kit, undefined, withFile("a"));
      await endedPage(kit, undefined, withFile("a"));
      await endedPage(kit, undefined, { ...withFile("b"), artifacts: [file("b"), file("c")] } as typeof DONE);
      let sum = 0;
      for (let after: number | null = 0; after !== null;) {
        const part: { bytes: number; last: number | null } = await kit.store.storedBytes({ after, limit: 1 });
        sum += part.bytes;
        after = part.last;
      }
      assert.equal(sum, 9);
      assert.ok((await kit.store.databaseBytes()) >= 0);
      assert.equal(await kit.store.diskUse(), null);
      const first = kit.now;
      assert.equal((await kit.store.noteDiskUse({ bytes: 5, isNear: true }, first)).warnedAt, first);
      kit.pass(DAY);
      assert.equal((await kit.store.noteDiskUse({ bytes: 6, isNear: true }, kit.now)).warnedAt, first);
      assert.deepEqual(await kit.store.diskUse(), { bytes: 6, measuredAt: kit.now, warnedAt: first });
      assert.equal((await kit.store.noteDiskUse({ bytes: 1, isNear: false }, kit.now)).warnedAt, null);
      assert.equal(await kit.store.expireOldest(2, kit.now), 2);
      await removeAll(kit);
      assert.equal((await kit.store.storedBytes({ after: 0, limit: 10 })).bytes, 6);
    },
  );
}

/** Its task has a site of its own: another run has something to do at the first. */
async function endedPageBeside(kit: Kit, jobId: string): Promise<RunRecord> {
  kit.pass(1000);
  const lane = "site:b.example";
  const run = { kind: "page" as const, maxAttempts: 1, snapshot: {}, jobId };
  const { created } = await kit.store.startRun(run, [newTask("p", { lane })], kit.now);
  await kit.work(await kit.take("B", lane), FAILED);
  return (await kit.store.run(created.id))!;
}
