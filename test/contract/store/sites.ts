import assert from "node:assert/strict";
import type { Politeness } from "../../../src/store/site-records.ts";
import { NO_TASKS } from "../../../src/domain/run-end.ts";
import { DONE, FAILED, LANE, type Kit, newTask, refused, type Scenario } from "./kit.ts";

const LIMITS = {
  maxConcurrency: null,
  requestsPerSecond: null,
  burst: null,
  minDelayMs: null,
  paused: false,
  maxMemoryMb: null,
  strategy: null,
  respectRobots: null,
  shards: null,
  group: null,
  dependsOn: [],
};
const UNSEEN = {
  crawlDelayMs: null,
  learned: null,
  health: null,
  waiting: null,
  waitsFor: [],
  counts: NO_TASKS,
  firstSeenAt: null,
};
const QUIET: Politeness = { holdUntil: 0, holdStep: 0, breaker: { failures: 0, openUntil: null, failedProbes: 0 } };

async function behave(kit: Kit, politeness: Politeness) {
  await kit.runWith(["a"]);
  const lane = await kit.take("A");
  await kit.store.settle([{ hold: lane, tasks: [], site: { site: "a.example", politeness } }], kit.now);
  return lane;
}

export function siteScenarios(scenario: Scenario): void {
  scenario("a site is known once it has a task, without limits of its own", async (kit) => {
    assert.equal(await kit.store.site("a.example"), null);
    assert.deepEqual(await kit.store.sites({ limit: 10 }, kit.now), []);
    await kit.runWith(["a"]);
    assert.deepEqual(await kit.store.site("a.example"), {
      site: "a.example",
      lane: LANE,
      ...UNSEEN,
      ...LIMITS,
      ...QUIET,
      counts: { ...NO_TASKS, queued: 1 },
      firstSeenAt: kit.now,
    });
  });

  scenario("limits may be set before the first task, change key by key, and reach the owner", async (kit) => {
    await kit.store.setSite("a.example", { maxConcurrency: 2, requestsPerSecond: 0.5 });
    const set = await kit.store.setSite("a.example", { burst: 3, minDelayMs: 100, paused: true });
    const expected = { ...LIMITS, maxConcurrency: 2, requestsPerSecond: 0.5, burst: 3, minDelayMs: 100, paused: true };
    assert.deepEqual(set, { site: "a.example", lane: LANE, ...UNSEEN, ...expected, ...QUIET });
    const own = { maxMemoryMb: 300, strategy: "browser", respectRobots: false, shards: 2 } as const;
    assert.deepEqual(await kit.store.setSite("a.example", own), { ...set, ...own });
    const none = { maxMemoryMb: null, strategy: null, respectRobots: null, shards: null };
    assert.deepEqual(await kit.store.setSite("a.example", none), set);
    await kit.runWith(["a"]);
    const seen = { counts: { ...NO_TASKS, queued: 1 }, firstSeenAt: kit.now };
    assert.deepEqual((await kit.take("A")).site, { ...set, ...seen });
    assert.equal((await kit.store.setSite("a.example", { maxConcurrency: null })).maxConcurrency, null);
    assert.deepEqual(await kit.store.setSite("a.example", {}), { ...set, ...seen, maxConcurrency: null });
  });

  scenario("a limit that does not exist is refused", async (kit) => {
    const wrong = { speed: 1 } as unknown as { burst: number };
    await refused("input_invalid", kit.store.setSite("a.example", wrong));
    assert.equal(await kit.store.site("a.example"), null);
  });

  scenario("sites are listed by name", async (kit) => {
    for (const site of ["b.example", "a.example", "a.example:8080"]) await kit.store.setSite(site, {});
    assert.deepEqual(
      (await kit.store.sites({ limit: 10 }, kit.now)).map(({ site }) => site),
      ["a.example", "a.example:8080", "b.example"],
    );
  });

  scenario("what a site asked for outlives its owner", async (kit) => {
    const asked = {
      holdUntil: 5_000_000,
      holdStep: 2,
      breaker: { failures: 6, openUntil: 6_000_000, failedProbes: 1 },
    };
    await behave(kit, asked);
    const next = await kit.takeOver("B");
    assert.ok(next.site !== null);
    const { holdUntil, holdStep, breaker } = next.site;
    assert.deepEqual({ holdUntil, holdStep, breaker }, asked);
    await kit.work(next, DONE);
  });

  scenario("sites whose breaker is open are told, those that stay shut longest first", async (kit) => {
    const until: Record<string, number | null> = {
      "a.example": 300,
      "b.example": 200,
      "c.example": 100,
      "d.example": null,
    };
    for (const [site, openUntil] of Object.entries(until)) {
      await kit.runWith([newTask(site, { lane: `site:${site}`, site })]);
      const lane = await kit.take("A", `site:${site}`);
      const politeness = { ...QUIET, breaker: { failures: 6, openUntil, failedProbes: 0 } };
      await kit.store.settle([{ hold: lane, tasks: [], site: { site, politeness } }], kit.now);
    }
    const open = async (now: number, limit: number) =>
      (await kit.store.openBreakers(now, limit)).map(({ site, breaker }) => [site, breaker.openUntil]);
    assert.deepEqual(await open(100, 10), [
      ["a.example", 300],
      ["b.example", 200],
    ]);
    assert.deepEqual(await open(0, 1), [["a.example", 300]]);
    await kit.store.resetBreaker("a.example");
    assert.deepEqual(await open(100, 10), [["b.example", 200]]);
  });

  scenario("the operator's limits and the site's wishes do not overwrite each other", async (kit) => {
    const asked = { holdUntil: 77, holdStep: 1, breaker: { failures: 1, openUntil: null, failedProbes: 0 } };
    await kit.store.setSite("a.example", { burst: 9 });
    await behave(kit, asked);
    const site = await kit.store.setSite("a.example", { maxConcurrency: 4 });
    assert.deepEqual([site.burst, site.maxConcurrency, site.holdUntil, site.breaker.failures], [9, 4, 77, 1]);
  });

  scenario("a reset closes the breaker and ends the hold, and owners hear of it", async (kit) => {
    await behave(kit, { holdUntil: 99, holdStep: 3, breaker: { failures: 6, openUntil: 99, failedProbes: 2 } });
    const version = await kit.store.controlVersion();
    await kit.store.resetBreaker("a.example");
    const site = await kit.store.site("a.example");
    assert.deepEqual({ holdUntil: site?.holdUntil, holdStep: site?.holdStep, breaker: site?.breaker }, QUIET);
    assert.ok((await kit.store.controlVersion()) > version);
    await refused("not_found", kit.store.resetBreaker("nobody.example"));
  });

  scenario(
    "of a site that was given up, only runs without a deadline have something to do before it is tried again",
    async (kit) => {
      const openUntil = kit.now + 300_000;
      await kit.runWith(["q"]);
      const timed = { kind: "queue" as const, maxAttempts: null, snapshot: {}, timeLimitMs: 3_600_000 };
      const run = await kit.store.openRun(timed, kit.now);
      await kit.enqueue(run, [newTask("t")]);
      const lane = await kit.take("A");
      const politeness = { holdUntil: 0, holdStep: 0, breaker: { failures: 8, openUntil, failedProbes: 3 } };
      await kit.store.settle([{ hold: lane, tasks: [], site: { site: "a.example", politeness } }], kit.now);
      assert.deepEqual(await kit.store.lanesWithWork("A"), [{ lane: LANE, readyAt: 0 }]);
      const claim = (withoutDeadline: boolean) => kit.store.claim(lane, { limit: 10, withoutDeadline }, kit.now);
      const endless = (await claim(true))!;
      assert.deepEqual(
        endless.tasks.map(({ key, hasDeadline }) => [key, hasDeadline]),
        [["q", false]],
      );
      assert.equal(endless.more, false);
      await kit.settle(lane, endless.tasks, FAILED);
      assert.deepEqual(await kit.store.lanesWithWork("A"), [{ lane: LANE, readyAt: openUntil }]);
      assert.deepEqual((await claim(true))?.tasks, []);
      const all = (await claim(false))!;
      assert.deepEqual(
        all.tasks.map(({ key, hasDeadline }) => [key, hasDeadline]),
        [["t", true]],
      );
    },
  );

  scenario("a site that was given up gets its probes anew when its failed tasks are tried again", async (kit) => {
    const run = await kit.runWith(["failed"]);
    const lane = await kit.take("A");
    await kit.work(lane, FAILED);
    await kit.store.releaseLane(lane);
    await behave(kit, { holdUntil: 0, holdStep: 0, breaker: { failures: 8, openUntil: 99, failedProbes: 3 } });
    await kit.store.retryFailed(run.id, { limit: 10 }, kit.now);
    const site = await kit.store.site("a.example");
    assert.deepEqual(site?.breaker, { failures: 8, openUntil: 99, failedProbes: 0 });
  });

  scenario("the control version grows with what owners must notice, and not with their own work", async (kit) => {
    const other = await kit.open();
    const run = await kit.runWith(["a"]);
    const lane = await kit.take("A");
    let last = await kit.store.controlVersion();
    const grows = async (work: Promise<unknown>) => {
      await work;
      const version = await other.controlVersion();
      assert.ok(version > last);
      last = version;
    };
    await grows(kit.store.setSite("a.example", { paused: true }));
    await grows(kit.store.setSite("a.example", { paused: false }));
    await grows(kit.store.changeRun(run.id, "running", "Run started", kit.now));
    await grows(kit.store.changeRun(run.id, "paused", "Run paused", kit.now));
    await grows(kit.store.changeRun(run.id, "running", "Run resumed", kit.now));
    await kit.work(lane, { kind: "handed_back" });
    assert.equal(await kit.store.controlVersion(), last);
  });

  scenario("a write of another process shows in the foreign version, one's own does not", async (kit) => {
    const other = await kit.open();
    const before = await kit.store.foreignVersion();
    await kit.runWith(["a"]);
    assert.equal(await kit.store.foreignVersion(), before);
    await other.setSite("b.example", {});
    assert.notEqual(await kit.store.foreignVersion(), before);
  });
}
