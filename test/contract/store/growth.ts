import assert from "node:assert/strict";
import { failure } from "../../../src/domain/run/failure.ts";
import type { Discovered } from "../../../src/domain/run/outcome.ts";
import type { NewTask, RunRecord } from "../../../src/store/ports/port.ts";
import { DONE, FAILED, HANDED_BACK, type Kit, LANE, movedTo, newTask, type Scenario, type Verdict } from "./kit.ts";

const OTHER = "site:b.example";
const BROKEN: Verdict = { kind: "failed", failure: failure("http_server_error", "broken", { httpStatus: 500 }) };

const auxiliary = (key: string, more: Partial<NewTask> = {}) => newTask(key, { auxiliary: true, priority: 1, ...more });

function found(key: string, more: Partial<Discovered> & { lane?: string } = {}): Discovered {
  const lane = more.lane ?? LANE;
  const site = lane.replace("site:", "");
  return { key, url: `https://${site}/${key}`, lane, site, depth: 1, ...more };
}

/** A crawl that has begun, with these tasks. */
async function crawl(kit: Kit, tasks: readonly NewTask[], pagesLimit = 100): Promise<RunRecord> {
  const run = { kind: "crawl", maxAttempts: 3, snapshot: { options: {} }, pagesLimit } as const;
  const { created } = await kit.store.startRun(run, tasks, kit.now);
  await kit.store.admitCrawls(1000, kit.now);
  return created;
}

const known = async (kit: Kit, run: RunRecord) => (await kit.store.run(run.id))?.pagesKnown;
const totals = async (kit: Kit, run: RunRecord) => (await kit.store.overview(run.id, 10)).totals;

export function growthScenarios(scenario: Scenario): void {
  scenario("an auxiliary task stands in no sum, and its run ends only with it", async (kit) => {
    const run = await crawl(kit, [newTask("page"), auxiliary("map"), auxiliary("elsewhere", { lane: OTHER })]);
    assert.equal(await known(kit, run), 1);
    assert.deepEqual(await kit.counts(run), { queued: 1 });
    assert.equal((await totals(kit, run)).queued, 1);
    const { open } = await kit.store.overview(run.id, 10);
    assert.deepEqual(
      open.map(({ lane, counts }) => [lane, counts.queued]),
      [
        [LANE, 1],
        [OTHER, 0],
      ],
      "whoever wakes the run's lanes must know of all of them",
    );
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    assert.deepEqual(
      tasks.map((task) => [task.key, task.auxiliary]),
      [
        ["map", true],
        ["page", false],
      ],
    );
    assert.deepEqual((await kit.settle(lane, tasks, DONE)).ended, []);
    const other = await kit.take("A", OTHER);
    const { ended } = await kit.work(other, DONE);
    assert.deepEqual(ended, [{ runId: run.id, status: "completed" }]);
    assert.deepEqual(await kit.counts(run), { completed: 1 });
    assert.match((await kit.ends(run)).join(), /1 page fetched/);
    assert.equal((await kit.store.tasks(run.id, { limit: 10 })).length, 3);
    assert.deepEqual(
      (await kit.store.tasks(run.id, { limit: 10, pagesOnly: true })).map(({ key }) => key),
      ["page"],
    );
  });

  scenario(
    "an auxiliary task that fails makes no crawl partial, and is tried again with the pages that failed",
    async (kit) => {
      const run = await crawl(kit, [newTask("good"), newTask("bad"), auxiliary("map")]);
      const lane = await kit.take("A");
      const { tasks } = await kit.claim(lane);
      const named = (...keys: string[]) => tasks.filter(({ key }) => keys.includes(key));
      await kit.settle(lane, named("map"), BROKEN);
      assert.deepEqual(await kit.store.runErrors(run.id), []);
      await kit.settle(lane, named("bad"), FAILED);
      await kit.settle(lane, named("good"), DONE);
      assert.equal(await kit.status(run), "completed", "what is not there makes no crawl partial either");
      const again = await kit.store.retryFailed(run.id, { limit: 10 }, kit.now);
      assert.deepEqual(again, { requeued: 1, lanes: [LANE], next: null });
      assert.deepEqual(await kit.store.runErrors(run.id), []);
      assert.deepEqual(await kit.states(run), { good: "completed", bad: "queued", map: "queued" });
      await kit.store.admitCrawls(1000, kit.now);
      await kit.work(lane, BROKEN);
      assert.deepEqual(
        (await kit.store.runErrors(run.id)).map(({ reason, count }) => [reason, count]),
        [["http_server_error", 1]],
      );
      assert.equal(await kit.status(run), "partial");
    },
  );

  scenario(
    "an auxiliary task stays auxiliary when it moves to another site or is taken back from a dead owner",
    async (kit) => {
      const run = await crawl(kit, [newTask("page"), auxiliary("map")]);
      const lane = await kit.take("A");
      const { tasks } = await kit.claim(lane);
      await kit.settle(
        lane,
        tasks.filter((task) => task.auxiliary),
        movedTo(OTHER),
      );
      assert.deepEqual(await kit.counts(run), { running: 1 });
      const next = await kit.takeOver("B");
      await kit.work(next, DONE);
      const other = await kit.take("B", OTHER);
      const moved = await kit.claim(other);
      assert.deepEqual(
        moved.tasks.map((task) => task.auxiliary),
        [true],
      );
      await kit.settle(other, moved.tasks, DONE);
      assert.deepEqual(await kit.counts(run), { completed: 1 });
      assert.equal(await kit.status(run), "completed");
    },
  );

  scenario("a task at work hands on what it has found, each once, and goes on", async (kit) => {
    const run = await crawl(kit, [newTask("start"), auxiliary("map", { handler: "@maps" })]);
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    const map = tasks.find((task) => task.auxiliary);
    assert.ok(map !== undefined);
    const grow = (...list: Discovered[]) => kit.store.growRun(lane, map, { found: list, auxiliaryLimit: 3 }, kit.now);
    const first = [found("start"), found("a", { handler: "@pages" }), found("b", { lane: OTHER })];
    assert.deepEqual(await grow(...first), { added: 2, lanes: [LANE, OTHER], leftOut: false });
    assert.deepEqual(await grow(...first), { added: 0, lanes: [], leftOut: false });
    const maps = ["map", "map-2", "map-3", "map-4"].map((key) => found(key, { auxiliary: { depth: 2 } }));
    assert.deepEqual(await grow(...maps), { added: 2, lanes: [LANE], leftOut: true });
    assert.equal(await known(kit, run), 3);
    assert.deepEqual(await kit.counts(run), { queued: 2, running: 1 });
    const next = await kit.claim(lane);
    assert.deepEqual(
      next.tasks.map(({ key, handler, payload, priority, auxiliary: isAuxiliary }) => [
        key,
        handler,
        payload,
        priority,
        isAuxiliary,
      ]),
      [
        ["map-2", "@maps", { depth: 2 }, 1, true],
        ["map-3", "@maps", { depth: 2 }, 1, true],
        ["a", "@pages", { depth: 1 }, -1, false],
      ],
    );
    await kit.settle(lane, [...tasks, ...next.tasks], DONE);
    await kit.work(await kit.take("A", OTHER), DONE);
    assert.equal(await kit.status(run), "completed");
    assert.match(
      (await kit.ends(run)).join(),
      /^Run completed: 3 pages fetched$/,
      "sitemaps have a limit of their own",
    );
  });

  scenario("what is handed on stops at what the run may know, and the end says so", async (kit) => {
    const run = await crawl(kit, [newTask("start"), auxiliary("map")], 3);
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    const map = tasks.find((task) => task.auxiliary);
    assert.ok(map !== undefined);
    const most = 2 * 3 + 1000;
    const list = ["start", ...Array.from({ length: most + 5 }, (_, n) => `p${n}`)].map((key) => found(key));
    const grown = await kit.store.growRun(lane, map, { found: list, auxiliaryLimit: 9 }, kit.now);
    assert.deepEqual(grown, { added: most - 1, lanes: [LANE], leftOut: true });
    // Only what is known already: nothing is left out.
    const again = await kit.store.growRun(lane, map, { found: list.slice(0, 3), auxiliaryLimit: 9 }, kit.now);
    assert.deepEqual(again, { added: 0, lanes: [], leftOut: false });
    await kit.settle(lane, tasks, DONE);
    await kit.work(lane, DONE);
    assert.equal((await kit.store.run(run.id))?.facts.end_reason, "limit_pages");
    assert.equal((await kit.counts(run)).completed, 3);
  });

  scenario("nothing is handed on by an owner that was replaced, nor to a run that has ended", async (kit) => {
    const run = await crawl(kit, [newTask("start"), auxiliary("map")]);
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    const growth = { found: [found("late")], auxiliaryLimit: 9 };
    const next = await kit.takeOver("B");
    assert.equal(await kit.store.growRun(lane, tasks[0]!, growth, kit.now), null);
    const taken = await kit.claim(next);
    assert.equal((await kit.store.growRun(next, taken.tasks[0]!, growth, kit.now))?.added, 1);
    await kit.store.changeRun(run.id, "cancelled", "Run cancelled", kit.now);
    const more = { found: [found("too-late")], auxiliaryLimit: 9 };
    assert.equal(await kit.store.growRun(next, taken.tasks[0]!, more, kit.now), null);
    await kit.settle(next, taken.tasks, DONE);
    await kit.store.sweepEnded(100, kit.now);
    assert.deepEqual(await kit.states(run), { start: "cancelled", map: "cancelled", late: "cancelled" });
  });

  scenario("a task may tell the log of its run without becoming the run's face", async (kit) => {
    const run = await crawl(kit, [newTask("page"), auxiliary("map")]);
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    const events = [
      { type: "sitemap.failed", level: "warn", message: "Sitemap not read", meta: { url: "x" } },
    ] as const;
    await kit.report(lane, tasks, HANDED_BACK, { events });
    await kit.work(lane, DONE);
    assert.equal((await kit.words(run)).filter((word) => word === "Sitemap not read").length, 2);
    assert.equal((await kit.store.run(run.id))?.facts.failure_code, undefined);
  });
}
