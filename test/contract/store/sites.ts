import assert from "node:assert/strict";
import type { Politeness, SiteFilter } from "../../../src/store/records/site-records.ts";
import { NO_TASKS } from "../../../src/domain/run/run-end.ts";
import { DONE, FAILED, LANE, type Kit, newTask, refused, retryAt, type Scenario, temporary } from "./kit.ts";

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
  shardCount: 1,
  targetShardCount: 1,
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
const QUIET: Politeness = {
  holdUntil: 0,
  holdStep: 0,
  breaker: { failures: 0, pages: [], openUntil: null, failedProbes: 0 },
  lastFailure: null,
};

async function behave(kit: Kit, politeness: Politeness) {
  await kit.runWith(["a"]);
  const lane = await kit.take("A");
  await kit.store.settle([{ hold: lane, tasks: [], site: { site: "a.example", politeness } }], kit.now);
  return lane;
}

export function siteScenarios(scenario: Scenario): void {
  scenario("what a site did last that made it wait is kept for whoever waits, until it answers", async (kit) => {
    const did = {
      code: "bad_response",
      reason: "http_server_error",
      message: "the server answered 500",
      httpStatus: 500,
    } as const;
    const lane = await behave(kit, { ...QUIET, holdUntil: kit.now + 5000, holdStep: 1, lastFailure: did });
    assert.deepEqual((await kit.store.site("a.example"))?.lastFailure, did);
    await kit.store.settle([{ hold: lane, tasks: [], site: { site: "a.example", politeness: QUIET } }], kit.now);
    assert.equal((await kit.store.site("a.example"))?.lastFailure, null);
  });

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

  scenario("sites are listed page by page, by a part of their name, and by how they stand", async (kit) => {
    const site = (name: string) => newTask(name, { lane: `site:${name}`, site: name });
    const names = ["active.example", "blocked.example", "hidden.example", "idle.example", "queued.example"];
    await kit.runWith([
      site("active.example"),
      site("blocked.example"),
      site("hidden.example"),
      site("queued.example"),
    ]);
    await kit.store.setSite("idle.example", {});
    await kit.store.setSite("hidden.example", { paused: true });
    const [active, blocked] = [await kit.take("A", "site:active.example"), await kit.take("A", "site:blocked.example")];
    await kit.claim(active);
    const politeness = { ...QUIET, breaker: { failures: 5, pages: [], openUntil: kit.now + 1000, failedProbes: 0 } };
    await kit.store.settle([{ hold: blocked, tasks: [], site: { site: "blocked.example", politeness } }], kit.now);
    const list = async (filter: Partial<SiteFilter>) =>
      (await kit.store.sites({ limit: 10, ...filter }, kit.now)).map((one) => one.site);
    assert.deepEqual(await list({}), names);
    assert.deepEqual(await list({ limit: 2 }), names.slice(0, 2));
    assert.deepEqual(await list({ limit: 2, after: "blocked.example" }), names.slice(2, 4));
    assert.deepEqual(await list({ q: "ed.ex" }), ["blocked.example", "queued.example"]);
    assert.deepEqual(await list({ q: "%" }), []);
    const states = async () => ({
      active: await list({ state: "active" }),
      waiting: await list({ state: "waiting" }),
      paused: await list({ state: "paused" }),
      blocked: await list({ state: "blocked" }),
    });
    const expected = {
      active: ["active.example"],
      waiting: ["queued.example"],
      paused: ["hidden.example"],
      blocked: ["blocked.example"],
    };
    assert.deepEqual(await states(), expected);
    assert.deepEqual(await list({ state: "waiting", q: "queue", after: "p" }), ["queued.example"]);
    const totals = await kit.store.siteTotals(kit.now);
    assert.deepEqual(totals, {
      counts: { ...NO_TASKS, queued: 3, running: 1 },
      sites: 5,
      byState: { active: 1, waiting: 1, paused: 1, blocked: 1 },
    });
    const busy = (await kit.store.busySites(2)).map((one) => [one.site, one.counts.running, one.counts.queued]);
    assert.deepEqual(busy, [
      ["active.example", 1, 0],
      ["blocked.example", 0, 1],
    ]);
    // Its owner has tasks in hand, and says that they wait.
    const waiting = { reason: "rate", until: kit.now + 5000 } as const;
    await kit.store.settle([{ hold: active, tasks: [], waiting }], kit.now);
    assert.deepEqual(await states(), { ...expected, active: [], waiting: ["active.example", "queued.example"] });
    kit.pass(1000);
    assert.deepEqual(await list({ state: "blocked" }), []);
    assert.deepEqual(await list({ state: "waiting", after: "b" }), ["blocked.example", "queued.example"]);
  });

  scenario("pages of all runs are counted for each site, also when runs are removed", async (kit) => {
    const counts = async () =>
      Object.fromEntries(Object.entries((await kit.store.site("a.example"))?.counts ?? {}).filter(([, n]) => n > 0));
    const crawl = { kind: "crawl" as const, maxAttempts: 1, snapshot: {}, temporary: true as const };
    await kit.store.startRun(crawl, [newTask("a"), newTask("map", { auxiliary: true })], kit.now);
    await kit.store.admitCrawls(1, kit.now);
    const rest = await kit.runWith(["a", "b"]);
    assert.deepEqual(await counts(), { queued: 3 });
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    assert.deepEqual(await counts(), { running: 3 });
    await kit.settle(lane, tasks, DONE);
    assert.deepEqual(await counts(), { completed: 3 });
    await kit.enqueue(rest, ["c"]);
    await kit.work(lane, FAILED);
    assert.deepEqual(await counts(), { completed: 3, failed: 1 });
    await kit.store.releaseLane(lane);
    kit.pass(1000);
    await kit.store.expireRuns(temporary(kit.now), 10, kit.now);
    while ((await kit.store.removeExpired(100)) > 0);
    assert.deepEqual(await counts(), { completed: 2, failed: 1 });
  });

  scenario("how a site has done of late and what it waits for outlive its owner", async (kit) => {
    await kit.runWith(["a"]);
    const lane = await kit.take("A");
    const slot = { since: kit.now, good: 3, failed: 1, blocked: 0, times: { 7: 3 } };
    const health = { slots: [slot], lastSuccessAt: kit.now };
    const waiting = { reason: "min_delay", until: kit.now + 800 } as const;
    const batch = { hold: lane, tasks: [], health: [{ site: "a.example", health }], waiting };
    await kit.store.settle([batch], kit.now);
    const site = await kit.store.site("a.example");
    assert.deepEqual([site?.health, site?.waiting], [health, waiting]);
    await kit.store.settle([{ hold: lane, tasks: [] }], kit.now);
    assert.deepEqual((await kit.store.site("a.example"))?.waiting, waiting, "what is not said stays");
    await kit.store.settle([{ hold: lane, tasks: [], waiting: null }], kit.now);
    assert.equal((await kit.store.site("a.example"))?.waiting, null);
    await kit.store.settle([{ hold: lane, tasks: [], waiting }], kit.now);
    await kit.store.releaseLane(lane);
    const next = await kit.take("B");
    assert.deepEqual([next.site?.health, next.site?.waiting], [health, waiting]);
    await kit.store.settle([{ hold: lane, tasks: [], waiting: null }], kit.now);
    assert.deepEqual((await kit.store.site("a.example"))?.waiting, waiting, "an owner that was says nothing");
  });

  scenario("a site at which no run may work tells of one that waits", async (kit) => {
    assert.equal(await kit.store.runHeldAt("a.example"), null);
    const paused = await kit.runWith(["a"]);
    assert.equal(await kit.store.runHeldAt("a.example"), null, "it may work");
    await kit.store.changeRun(paused.id, "running", "Run started", kit.now);
    await kit.store.changeRun(paused.id, "paused", "Run paused", kit.now);
    assert.deepEqual(await kit.store.runHeldAt("a.example"), { status: "paused", hold: null, quotaExhausted: false });
    const hold = { reason: "proxies" as const, since: kit.now, until: null, message: "Waiting for proxies" };
    const held = await kit.runWith(["b", newTask("c", { lane: "site:c.example" })]);
    assert.equal(await kit.store.runHeldAt("a.example"), null, "one of them may");
    await kit.store.holdRun(held.id, hold, kit.now);
    assert.equal((await kit.store.runHeldAt("a.example"))?.status, "paused", "the oldest");
    assert.deepEqual((await kit.store.runHeldAt("c.example"))?.hold, hold);
    const crawl = { kind: "crawl", maxAttempts: 3, snapshot: { options: {} }, pagesLimit: 1 } as const;
    const elsewhere = newTask("d", { lane: "site:d.example" });
    await kit.store.startRun(crawl, [elsewhere, newTask("e", { lane: "site:e.example" })], kit.now);
    await kit.store.admitCrawls(9, kit.now);
    assert.equal(await kit.store.runHeldAt("e.example"), null);
    await kit.claim(await kit.take("A", "site:d.example"));
    assert.deepEqual(await kit.store.runHeldAt("e.example"), { status: "running", hold: null, quotaExhausted: true });
  });

  scenario("a site tells when the first of what has failed there is tried again", async (kit) => {
    await kit.runWith(["a", "b"]);
    assert.equal(await kit.store.nextTry("a.example"), null);
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    await kit.settle(lane, tasks.slice(0, 1), retryAt(kit.now + 2000));
    await kit.settle(lane, tasks.slice(1), retryAt(kit.now + 1000));
    const { at, tries, failure: why } = (await kit.store.nextTry("a.example"))!;
    assert.deepEqual([at, tries, typeof why?.message], [kit.now + 1000, 1, "string"]);
    assert.equal(await kit.store.nextTry("b.example"), null);
  });

  scenario("what is tried again comes next unless something of a run that may work is queued", async (kit) => {
    await kit.runWith(["a"]);
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane);
    await kit.settle(lane, tasks, retryAt(kit.now + 1000));
    const isNext = async () => (await kit.store.nextTry("a.example"))?.isNext;
    assert.equal(await isNext(), true);
    const other = await kit.runWith(["b"]);
    assert.equal(await isNext(), false);
    await kit.store.changeRun(other.id, "running", "Run started", kit.now);
    await kit.store.changeRun(other.id, "paused", "Run paused", kit.now);
    assert.equal(await isNext(), true);
  });

  scenario("what a site asked for outlives its owner", async (kit) => {
    const asked = {
      holdUntil: 5_000_000,
      holdStep: 2,
      breaker: { failures: 6, pages: ["a", "b"], openUntil: 6_000_000, failedProbes: 1 },
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
      const politeness = { ...QUIET, breaker: { failures: 6, pages: [], openUntil, failedProbes: 0 } };
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
    const asked = {
      holdUntil: 77,
      holdStep: 1,
      breaker: { failures: 1, pages: ["a"], openUntil: null, failedProbes: 0 },
    };
    await kit.store.setSite("a.example", { burst: 9 });
    await behave(kit, asked);
    const site = await kit.store.setSite("a.example", { maxConcurrency: 4 });
    assert.deepEqual([site.burst, site.maxConcurrency, site.holdUntil, site.breaker.failures], [9, 4, 77, 1]);
  });

  scenario("a reset closes the breaker and ends the hold, and owners hear of it", async (kit) => {
    await behave(kit, {
      holdUntil: 99,
      holdStep: 3,
      breaker: { failures: 6, pages: [], openUntil: 99, failedProbes: 2 },
    });
    const version = await kit.store.controlVersion();
    await kit.store.resetBreaker("a.example");
    const site = await kit.store.site("a.example");
    const { holdUntil, holdStep, breaker, lastFailure } = site!;
    assert.deepEqual({ holdUntil, holdStep, breaker, lastFailure }, QUIET);
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
      const politeness = { holdUntil: 0, holdStep: 0, breaker: { failures: 8, pages: [], openUntil, failedProbes: 3 } };
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
    await behave(kit, {
      holdUntil: 0,
      holdStep: 0,
      breaker: { failures: 8, pages: [], openUntil: 99, failedProbes: 3 },
    });
    await kit.store.retryFailed(run.id, { limit: 10 }, kit.now);
    const site = await kit.store.site("a.example");
    assert.deepEqual(site?.breaker, { failures: 8, pages: [], openUntil: 99, failedProbes: 0 });
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
    // Where the store tells of it, nobody has to ask.
    if (kit.store.capabilities.notifies) return;
    const other = await kit.open();
    const before = await kit.store.foreignVersion();
    await kit.runWith(["a"]);
    assert.equal(await kit.store.foreignVersion(), before);
    await other.setSite("b.example", {});
    assert.notEqual(await kit.store.foreignVersion(), before);
  });
}
