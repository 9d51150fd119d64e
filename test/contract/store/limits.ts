import assert from "node:assert/strict";
import { failure, type FailureReason } from "../../../src/domain/run/failure.ts";
import type { Discovered } from "../../../src/domain/run/outcome.ts";
import type { NewRun, NewTask, RunRecord } from "../../../src/store/ports/port.ts";
import type { RequeuePosition } from "../../../src/store/ports/progress-port.ts";
import {
  attempt,
  DONE,
  HANDED_BACK,
  type Kit,
  keysOf,
  LANE,
  movedTo,
  newTask,
  RATE_WAIT,
  refused,
  retryAt,
  type Scenario,
  SKIPPED,
  type Verdict,
} from "./kit.ts";

const OTHER = "site:b.example";
const failedBy = (reason: FailureReason): Verdict => ({ kind: "failed", failure: failure(reason, "no") });
const DISALLOWED = failedBy("robots_disallowed");
const BROKEN = failedBy("http_server_error");

const keysUpTo = (count: number, letter = "p") => Array.from({ length: count }, (_, n) => `${letter}${n}`);

async function waiting(kit: Kit, tasks: readonly (string | NewTask)[], more: Partial<NewRun> = {}): Promise<RunRecord> {
  const run = { kind: "crawl", maxAttempts: 3, snapshot: { options: {} }, pagesLimit: 3, ...more } as const;
  const list = tasks.map((task) => (typeof task === "string" ? newTask(task) : task));
  return (await kit.store.startRun(run, list, kit.now)).created;
}

/** A crawl that has begun; it may have three pages. */
async function crawl(kit: Kit, tasks: readonly (string | NewTask)[], more: Partial<NewRun> = {}): Promise<RunRecord> {
  const run = await waiting(kit, tasks, more);
  await kit.store.admitCrawls(1000, kit.now);
  return run;
}

const reasonOf = async (kit: Kit, run: RunRecord) => (await kit.store.run(run.id))?.facts.end_reason;

async function sweep(kit: Kit): Promise<void> {
  while ((await kit.store.sweepEnded(100, kit.now)) > 0);
  await kit.expectClean();
}

/** Its time is over while pages wait; what waits is swept. */
async function outOfTime(kit: Kit, run: RunRecord): Promise<void> {
  await kit.store.endByTime(run.id, kit.now);
  await kit.expectClean();
  await sweep(kit);
}

async function goOn(kit: Kit, run: RunRecord, limit = 100): Promise<number[]> {
  const pieces: number[] = [];
  for (let after: RequeuePosition | null | undefined; after !== null;) {
    const part = await kit.store.goOn(run.id, { limit, ...(after === undefined ? {} : { after }) }, kit.now);
    await kit.expectClean();
    pieces.push(part.requeued);
    after = part.next;
  }
  return pieces;
}

export function limitScenarios(scenario: Scenario): void {
  scenario("no more pages are handed out than the crawl may have, over all its lanes", async (kit) => {
    const run = await crawl(kit, [...keysUpTo(5), ...keysUpTo(5, "q").map((key) => newTask(key, { lane: OTHER }))]);
    const [one, two] = [await kit.take("A"), await kit.take("A", OTHER)];
    const first = await kit.claim(one, 2);
    const second = await kit.claim(two);
    assert.deepEqual([keysOf(first), keysOf(second)], [["p0", "p1"], ["q0"]]);
    assert.deepEqual([second.more, keysOf(await kit.claim(one)), keysOf(await kit.claim(two))], [false, [], []]);
    assert.deepEqual(await kit.store.lanesWithWork("A"), [], "what has no place is no work");
    await kit.expectClean();
    await kit.settle(one, first.tasks, DONE);
    assert.deepEqual(keysOf(await kit.claim(one)), [], "what has ended keeps its place");
    const { ended } = await kit.settle(two, second.tasks, BROKEN);
    assert.deepEqual(ended, [{ runId: run.id, status: "partial" }]);
    assert.equal(await reasonOf(kit, run), "limit_pages");
    await sweep(kit);
    assert.deepEqual(await kit.counts(run), { completed: 2, failed: 1, cancelled: 7 });
  });

  scenario(
    "near its limit a crawl deals its last places out to all lanes, no more than they begin soon",
    async (kit) => {
      const both = [...keysUpTo(30), ...keysUpTo(30, "q").map((key) => newTask(key, { lane: OTHER }))];
      const run = await crawl(kit, both, { pagesLimit: 20 });
      const [one, two] = [await kit.take("A"), await kit.take("A", OTHER)];
      const most = await kit.claim(one);
      assert.deepEqual([most.tasks.length, most.more], [10, true], "half of the places");
      const few = await kit.store.claim(two, { limit: 100, soon: 2 }, kit.now);
      assert.deepEqual([few?.tasks.length, few?.more], [2, true], "a slow lane begins two soon");
      assert.equal((await kit.claim(one)).tasks.length, 4, "half of what is left");
      assert.equal((await kit.claim(one, 1)).tasks.length, 1);
      assert.equal((await kit.claim(two)).tasks.length, 2);
      assert.equal((await kit.claim(one)).tasks.length, 1);
      await kit.expectClean();
      assert.equal(await kit.status(run), "running");
    },
  );

  scenario("a start that was tried in vain when the crawl came to its limit makes it partial, by name", async (kit) => {
    const run = await crawl(kit, [...keysUpTo(5), newTask("dead", { lane: OTHER })]);
    const [one, two] = [await kit.take("A"), await kit.take("A", OTHER)];
    await kit.settle(two, (await kit.claim(two)).tasks, retryAt(kit.now + 60_000));
    assert.deepEqual(
      (await kit.store.runSites(run.id, { limit: 9 })).map(({ quotaExhausted }) => quotaExhausted),
      [false, false],
    );
    const tasks = [...(await kit.claim(one)).tasks, ...(await kit.claim(one)).tasks];
    assert.deepEqual(
      (await kit.store.runSites(run.id, { limit: 9 })).map(({ quotaExhausted }) => quotaExhausted),
      [true, true],
    );
    await kit.settle(one, tasks, DONE);
    assert.deepEqual([await kit.status(run), await reasonOf(kit, run)], ["partial", "limit_pages"]);
    assert.equal((await kit.words(run)).at(-1), "Run completed in part: 3 pages fetched; nothing from b.example");
    await sweep(kit);
  });

  scenario("a crawl of which one lane is open leaves it all places", async (kit) => {
    await crawl(kit, keysUpTo(30), { pagesLimit: 20 });
    const claim = await kit.store.claim(await kit.take("A"), { limit: 100, soon: 2 }, kit.now);
    assert.deepEqual([claim?.tasks.length, claim?.more], [20, false]);
  });

  scenario("pages that were never fetched and pages that are others take no place", async (kit) => {
    const run = await crawl(kit, keysUpTo(12));
    const lane = await kit.take("A");
    for (const verdict of [DISALLOWED, failedBy("breaker_open"), SKIPPED]) {
      const { tasks } = await kit.claim(lane);
      assert.equal(tasks.length, 3);
      const { ended, opened } = await kit.settle(lane, tasks, verdict);
      assert.deepEqual([ended, opened], [[], [LANE]], "whoever waits for a place is told");
      await kit.expectClean();
    }
    const { ended } = await kit.work(lane, DONE);
    assert.deepEqual(ended, [{ runId: run.id, status: "partial" }]);
    assert.deepEqual(await kit.counts(run), { completed: 3, failed: 6, skipped: 3 });
    assert.equal(await reasonOf(kit, run), "breaker_open");
  });

  scenario("what goes back gives its place to whoever waits", async (kit) => {
    const run = await crawl(kit, [...keysUpTo(3), newTask("far", { lane: OTHER })]);
    const [lane, other] = [await kit.take("A"), await kit.take("A", OTHER)];
    for (const verdict of [HANDED_BACK, RATE_WAIT, retryAt(kit.now)]) {
      const tasks = [...(await kit.claim(lane)).tasks, ...(await kit.claim(lane)).tasks];
      assert.deepEqual([tasks.length, keysOf(await kit.claim(other))], [3, []]);
      const { opened } = await kit.settle(lane, tasks, verdict);
      assert.ok(opened.includes(OTHER), `${opened}`);
      const far = await kit.claim(other);
      assert.deepEqual(keysOf(far), ["far"]);
      await kit.settle(other, far.tasks, HANDED_BACK);
      await kit.expectClean();
    }
    const tasks = [...(await kit.claim(lane)).tasks, ...(await kit.claim(lane)).tasks];
    const moved = await kit.settle(lane, tasks.slice(0, 1), movedTo(OTHER));
    assert.deepEqual(moved.opened, [OTHER]);
    assert.equal((await kit.claim(other)).tasks.length, 1);
    assert.equal(await kit.status(run), "running");
  });

  scenario("the places of a dead owner's pages are free again", async (kit) => {
    const run = await crawl(kit, keysUpTo(5));
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    await kit.settle(lane, tasks.slice(0, 1), DONE);
    const next = await kit.takeOver("B");
    await kit.expectClean();
    assert.equal((await kit.claim(next)).tasks.length, 2);
    assert.equal((await kit.settle(lane, tasks.slice(1), DONE)).lost.length, 1);
    assert.equal(await kit.status(run), "running");
    await kit.expectClean();
  });

  scenario("a crawl that has all its pages waits for sitemaps only if nothing else is left", async (kit) => {
    const map = newTask("map", { auxiliary: true, priority: 1 });
    const found: Discovered = { key: "new", url: "https://a.example/new", lane: LANE, site: "a.example", depth: 1 };
    for (const known of [3, 4]) {
      const run = await crawl(kit, [...keysUpTo(known), map]);
      const lane = await kit.take("A");
      const { tasks } = await kit.claim(lane);
      assert.equal(tasks.length, 4, "a sitemap needs no place");
      const { ended } = await kit.settle(
        lane,
        tasks.filter(({ auxiliary }) => !auxiliary),
        DONE,
      );
      assert.equal(ended.length, known - 3);
      if (known === 3) {
        const sitemap = tasks.find(({ auxiliary }) => auxiliary)!;
        const grown = await kit.store.growRun(lane, sitemap, { found: [found], auxiliaryLimit: 9 }, kit.now);
        assert.deepEqual(grown, { added: 0, lanes: [], leftOut: true });
        await kit.settle(lane, [sitemap], DONE);
      }
      assert.deepEqual([await kit.status(run), await reasonOf(kit, run)], ["completed", "limit_pages"]);
      await kit.store.releaseLane(lane);
      await sweep(kit);
    }
  });

  scenario("a crawl that has exactly as many pages as it may is exhausted", async (kit) => {
    const run = await crawl(kit, keysUpTo(3));
    await kit.work(await kit.take("A"), DONE);
    assert.deepEqual([await kit.status(run), await reasonOf(kit, run)], ["completed", "exhausted"]);
  });

  scenario("what failed of a crawl at its limit has its place again when it is tried again", async (kit) => {
    const run = await crawl(kit, keysUpTo(9));
    const lane = await kit.take("A");
    await kit.settle(lane, (await kit.claim(lane)).tasks, BROKEN);
    await sweep(kit);
    const { requeued } = await kit.store.retryFailed(run.id, { limit: 2 }, kit.now);
    assert.deepEqual([requeued, await kit.status(run), await reasonOf(kit, run)], [2, "queued", undefined]);
    await kit.store.admitCrawls(1, kit.now);
    await kit.work(lane, DONE);
    assert.deepEqual([await kit.status(run), await reasonOf(kit, run)], ["partial", "limit_pages"]);
    assert.deepEqual(await kit.counts(run), { completed: 2, failed: 1, cancelled: 6 });
  });

  scenario("a crawl out of time goes on with what was cut off, and has all its time again", async (kit) => {
    const more = { pagesLimit: 100, timeLimitMs: 1000 };
    const run = await crawl(kit, [...keysUpTo(7), newTask("map", { auxiliary: true, lane: OTHER })], more);
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane, 3);
    await kit.settle(lane, tasks.slice(0, 1), DONE);
    await kit.settle(lane, tasks.slice(1, 2), BROKEN);
    kit.pass(1000);
    await outOfTime(kit, run);
    // What is under way when the time is over comes in late.
    await kit.settle(lane, tasks.slice(2), DONE);
    assert.deepEqual(await kit.counts(run), { completed: 1, failed: 1, cancelled: 5 });
    assert.deepEqual(await goOn(kit, run, 2), [2, 2, 2, 0]);
    assert.deepEqual(await kit.counts(run), { completed: 1, failed: 1, queued: 5 });
    assert.deepEqual(await goOn(kit, run), [0], "nothing is left any more");
    assert.equal(await kit.status(run), "queued");
    await kit.store.admitCrawls(1, kit.now);
    assert.deepEqual(await kit.store.passTime(0, kit.now, 10), []);
    kit.pass(400);
    await kit.work(lane, DONE);
    await kit.work(await kit.take("A", OTHER), DONE);
    const { ranMs, facts } = (await kit.store.run(run.id))!;
    assert.deepEqual([ranMs, facts.ran_before_ms], [400, 1000], "what it has run before is not forgotten");
    assert.deepEqual([await kit.status(run), await reasonOf(kit, run)], ["partial", "exhausted"]);
    assert.deepEqual(await kit.counts(run), { completed: 6, failed: 1 });
    await kit.store.retryFailed(run.id, { limit: 1 }, kit.now);
    assert.equal((await kit.store.run(run.id))?.facts.ran_before_ms, 1400);
    assert.deepEqual((await kit.words(run)).slice(-4, -1), [
      "Run reopened: with a new time limit, it continues with the remaining tasks",
      "Run continues: it is its turn",
      "Run completed in part: 6 pages fetched; 1 page failed",
    ]);
  });

  scenario("a crawl out of time that is only tried again in part is still out of time", async (kit) => {
    const run = await crawl(kit, keysUpTo(4), { pagesLimit: 100 });
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane, 2);
    await kit.settle(lane, tasks.slice(0, 1), DONE);
    await kit.settle(lane, tasks.slice(1), BROKEN);
    await outOfTime(kit, run);
    await kit.store.retryFailed(run.id, { reasons: ["http_server_error"], limit: 10 }, kit.now);
    await kit.store.admitCrawls(1, kit.now);
    await kit.work(lane, DONE);
    assert.deepEqual([await kit.status(run), await reasonOf(kit, run)], ["partial", "limit_time"]);
    assert.deepEqual(await kit.counts(run), { completed: 2, cancelled: 2 });
    // Not all pieces were put back: then something is left, too.
    await kit.store.goOn(run.id, { limit: 1 }, kit.now);
    await kit.store.admitCrawls(1, kit.now);
    await kit.work(lane, DONE);
    assert.deepEqual([await kit.status(run), await reasonOf(kit, run)], ["partial", "limit_time"]);
    assert.deepEqual(await goOn(kit, run), [1]);
    await kit.store.admitCrawls(1, kit.now);
    await kit.work(lane, DONE);
    assert.deepEqual([await kit.status(run), await reasonOf(kit, run)], ["completed", "exhausted"]);
  });

  scenario("what was not swept yet when a crawl goes on after its time just goes on", async (kit) => {
    const run = await crawl(kit, keysUpTo(4), { pagesLimit: 100 });
    const lane = await kit.take("A");
    await kit.settle(lane, (await kit.claim(lane, 1)).tasks, DONE);
    await kit.store.endByTime(run.id, kit.now);
    await kit.store.sweepEnded(1, kit.now);
    assert.deepEqual(await goOn(kit, run), [1]);
    assert.equal(await kit.store.sweepEnded(10, kit.now), 0);
    await kit.store.admitCrawls(1, kit.now);
    await kit.work(lane, DONE);
    assert.deepEqual(await kit.counts(run), { completed: 4 });
  });

  scenario(
    "crawls that did not run out of time, and those that were cancelled, are not opened by that",
    async (kit) => {
      const done = await crawl(kit, ["a"]);
      const lane = await kit.take("A");
      await kit.work(lane, DONE);
      const stopped = await crawl(kit, ["a", "b"]);
      await kit.store.changeRun(stopped.id, "cancelled", "Run cancelled", kit.now);
      await sweep(kit);
      for (const run of [done, stopped]) assert.deepEqual(await goOn(kit, run), [0]);
      assert.deepEqual([await kit.status(done), await kit.status(stopped)], ["completed", "cancelled"]);
      const both = await crawl(kit, ["a", "b"]);
      const { tasks } = await kit.claim(lane, 1);
      await kit.store.settle(
        [{ hold: lane, tasks: [{ task: tasks[0]!, verdict: BROKEN, attempt: attempt(1) }] }],
        kit.now,
      );
      await outOfTime(kit, both);
      await kit.store.retryFailed(both.id, { reasons: ["http_server_error"], limit: 1 }, kit.now);
      await kit.store.changeRun(both.id, "cancelled", "Run cancelled", kit.now);
      await sweep(kit);
      assert.deepEqual([await goOn(kit, both), await kit.status(both)], [[0], "cancelled"]);
    },
  );

  scenario("crawls that are resumed or opened again wait their turn, and the oldest is first", async (kit) => {
    const [paused, ended, runs] = [await waiting(kit, ["a"]), await waiting(kit, ["a"]), await waiting(kit, ["a"])];
    const admitted = async () => (await kit.store.admitCrawls(1, kit.now)).admitted;
    assert.deepEqual(await admitted(), [paused.id]);
    await kit.store.changeRun(paused.id, "paused", "Run paused", kit.now);
    assert.deepEqual(await admitted(), [ended.id]);
    const lane = await kit.take("A");
    await kit.work(lane, BROKEN);
    assert.deepEqual(await admitted(), [runs.id]);
    await kit.store.changeRun(paused.id, "queued", "Run resumed", kit.now);
    await kit.store.retryFailed(ended.id, { limit: 1 }, kit.now);
    assert.deepEqual(await admitted(), []);
    await kit.work(lane, DONE);
    assert.deepEqual([await kit.status(paused), await kit.status(ended)], ["queued", "queued"]);
    assert.deepEqual(await admitted(), [paused.id]);
    await kit.work(lane, DONE);
    assert.deepEqual(await admitted(), [ended.id]);
    await kit.work(lane, DONE);
    assert.deepEqual((await kit.words(ended)).slice(-3), [
      "Run reopened: 1 failed tasks are retried",
      "Run continues: it is its turn",
      "Run completed: 1 page fetched",
    ]);
  });

  scenario("a crawl whose last page ended while it was paused ends when it is its turn", async (kit) => {
    const run = await crawl(kit, ["a"]);
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    await kit.store.changeRun(run.id, "paused", "Run paused", kit.now);
    await kit.settle(lane, tasks, DONE);
    await kit.store.changeRun(run.id, "queued", "Run resumed", kit.now);
    assert.deepEqual((await kit.store.admitCrawls(1, kit.now)).lanes, []);
    assert.equal(await kit.status(run), "completed");
  });

  scenario("a crawl that came to its limit while it was paused ends when it is its turn", async (kit) => {
    const run = await crawl(kit, keysUpTo(5));
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    await kit.store.changeRun(run.id, "paused", "Run paused", kit.now);
    await kit.settle(lane, tasks, DONE);
    assert.equal(await kit.status(run), "paused");
    await kit.store.changeRun(run.id, "queued", "Run resumed", kit.now);
    await kit.store.admitCrawls(1, kit.now);
    assert.deepEqual([await kit.status(run), await reasonOf(kit, run)], ["completed", "limit_pages"]);
    await sweep(kit);
  });

  scenario("a crawl that waits its turn can be paused, and is passed over until it is resumed", async (kit) => {
    const run = await waiting(kit, ["a"]);
    await kit.store.changeRun(run.id, "paused", "Run paused", kit.now);
    assert.deepEqual((await kit.store.admitCrawls(5, kit.now)).admitted, []);
    await refused("illegal_transition", kit.store.changeRun(run.id, "completed", "Run completed", kit.now));
    await kit.store.changeRun(run.id, "queued", "Run resumed", kit.now);
    assert.deepEqual((await kit.store.admitCrawls(5, kit.now)).admitted, [run.id]);
    assert.equal((await kit.words(run)).at(-1), "Run started");
  });
}
