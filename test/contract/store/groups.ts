import assert from "node:assert/strict";
import type { Politeness } from "../../../src/store/records/site-records.ts";
import { DONE, FAILED, HANDED_BACK, keysOf, type Kit, movedTo, newTask, refusedField, type Scenario } from "./kit.ts";

const OTHER = "site:b.example";
const SHOP = "group:shop";
const elsewhere = (key: string) => newTask(key, { lane: OTHER });
const join = (kit: Kit, ...sites: string[]) =>
  Promise.all(sites.map((site) => kit.store.setSite(site, { group: "shop" })));

async function shared(kit: Kit, site: string) {
  const found = await kit.store.site(site);
  assert.ok(found !== null);
  const { group, lane, maxConcurrency, minDelayMs, paused, holdUntil, breaker } = found;
  return { group, lane, maxConcurrency, minDelayMs, paused, holdUntil, failures: breaker.failures };
}

export function groupScenarios(scenario: Scenario): void {
  scenario("sites of a group have their work in one lane, wherever it was before", async (kit) => {
    const run = await kit.runWith(["a1", elsewhere("b1")]);
    const version = await kit.store.controlVersion();
    await join(kit, "a.example", "b.example");
    assert.ok((await kit.store.controlVersion()) > version, "owners hear of it");
    await kit.enter("A");
    assert.deepEqual(await kit.store.lanesWithWork("A"), [{ lane: SHOP, readyAt: 0 }]);
    const added = await kit.enqueue(run, ["a2", elsewhere("b2")]);
    assert.deepEqual(added.lanes, [SHOP]);
    const lane = await kit.take("A", SHOP);
    const { tasks } = await kit.claim(lane);
    assert.deepEqual(tasks.map(({ key, site }) => `${key} ${site}`).toSorted(), [
      "a1 a.example",
      "a2 a.example",
      "b1 b.example",
      "b2 b.example",
    ]);
    const counts = await kit.store.counts(run.id);
    assert.deepEqual(
      counts.map(({ site, lane: name, counts: { running } }) => [site, name, running]),
      [
        ["a.example", SHOP, 2],
        ["b.example", SHOP, 2],
      ],
    );
    assert.deepEqual((await kit.store.taskByKey(run.id, "a1"))?.lane, SHOP);
    const inHand = await kit.store.runSites(run.id, { limit: 10 });
    assert.deepEqual(
      inHand.map(({ site, laneRunning }) => [site.site, laneRunning]),
      [
        ["a.example", 4],
        ["b.example", 4],
      ],
    );
    await kit.settle(lane, tasks, DONE);
    assert.equal(await kit.status(run), "completed");
  });

  scenario("sites of a group take turns within a run, however much the first of them has", async (kit) => {
    const keys = (letter: string) => Array.from({ length: 20 }, (_, n) => `${letter}${n}`);
    await kit.runWith([...keys("a"), ...keys("b").map(elsewhere)]);
    await join(kit, "a.example", "b.example");
    const lane = await kit.take("A", SHOP);
    const first = await kit.claim(lane, 4);
    assert.deepEqual(keysOf(first), ["a0", "b0", "a1", "b1"]);
    const odd = await kit.claim(lane, 1);
    const even = await kit.claim(lane, 1);
    assert.deepEqual([...keysOf(odd), ...keysOf(even)].toSorted(), ["a2", "b2"], "one by one, too");
    await kit.settle(lane, [...first.tasks.filter(({ site }) => site === "b.example"), ...even.tasks], DONE);
    assert.deepEqual(keysOf(await kit.claim(lane, 4)), ["b3", "b4", "b5", "a3"], "who has less in hand comes first");
    await kit.expectClean();
  });

  scenario("whoever had the site in hand loses it, and its tasks have spent no attempt", async (kit) => {
    const run = await kit.runWith(["a1", "a2", elsewhere("b1")]);
    const before = await kit.take("A");
    const [first] = (await kit.claim(before, 1)).tasks;
    await join(kit, "b.example");
    const group = await kit.take("A", SHOP);
    await kit.store.setSite("a.example", { group: "shop" });
    assert.equal(await kit.store.claim(before, { limit: 1 }, kit.now), null);
    assert.deepEqual((await kit.settle(before, [first!], DONE)).lost, [before.laneId]);
    assert.ok((await kit.store.heartbeat("A", 60_000))?.has(group.laneId), "who has the group goes on");
    const { tasks } = await kit.claim(group);
    assert.deepEqual(tasks.map(({ key, tries, attempts }) => [key, tries, attempts.length]).toSorted(), [
      ["a1", 0, 0],
      ["a2", 0, 0],
      ["b1", 0, 0],
    ]);
    await kit.settle(group, tasks, DONE);
    assert.equal(await kit.status(run), "completed");
  });

  scenario("a site that leaves its group takes its own work along, and leaves that of the others", async (kit) => {
    const run = await kit.runWith(["a1", elsewhere("b1")]);
    await join(kit, "a.example", "b.example");
    const group = await kit.take("A", SHOP);
    await kit.claim(group);
    await kit.store.setSite("a.example", { group: null });
    assert.equal(await kit.store.claim(group, { limit: 1 }, kit.now), null, "it may have tasks of the other in hand");
    const own = await kit.take("A");
    assert.deepEqual(keysOf(await kit.claim(own)), ["a1"]);
    const rest = await kit.take("A", SHOP);
    assert.equal(rest.recovered, 1);
    assert.deepEqual(keysOf(await kit.claim(rest)), ["b1"]);
    await kit.store.changeRun(run.id, "cancelled", "Run cancelled", kit.now);
    await kit.store.releaseLane(own);
    await kit.store.releaseLane(rest);
    assert.equal(await kit.store.sweepEnded(10, kit.now), 2);
  });

  scenario(
    "what belongs to the server is the same for all of a group; the first member brings its own",
    async (kit) => {
      await kit.store.setSite("a.example", { maxConcurrency: 3, strategy: "browser", maxMemoryMb: 100 });
      await kit.store.setSite("b.example", { maxConcurrency: 7, minDelayMs: 50 });
      await join(kit, "a.example");
      await join(kit, "b.example");
      const all = {
        group: "shop",
        lane: SHOP,
        maxConcurrency: 3,
        minDelayMs: null,
        paused: false,
        holdUntil: 0,
        failures: 0,
      };
      assert.deepEqual(await shared(kit, "b.example"), all);
      assert.deepEqual(
        [(await kit.store.site("b.example"))?.strategy, (await kit.store.site("b.example"))?.maxMemoryMb],
        [null, null],
      );
      await kit.store.setSite("b.example", { maxConcurrency: 5, paused: true, respectRobots: false });
      assert.deepEqual(await shared(kit, "a.example"), { ...all, maxConcurrency: 5, paused: true });
      assert.equal((await kit.store.site("a.example"))?.respectRobots, null);
      await kit.store.setSite("a.example", { paused: false });
      await kit.runWith(["a"]);
      const lane = await kit.take("A", SHOP);
      const politeness: Politeness = {
        holdUntil: 99,
        holdStep: 1,
        breaker: { failures: 4, pages: ["a", "b"], openUntil: null, failedProbes: 0 },
      };
      await kit.store.settle([{ hold: lane, tasks: [], site: { site: "a.example", politeness } }], kit.now);
      assert.deepEqual(await shared(kit, "b.example"), { ...all, maxConcurrency: 5, holdUntil: 99, failures: 4 });
      await kit.store.resetBreaker("b.example");
      assert.deepEqual(await shared(kit, "a.example"), { ...all, maxConcurrency: 5 });
      await kit.store.setSite("b.example", { group: null, maxConcurrency: 1 });
      const { maxConcurrency, lane: own, group } = (await kit.store.site("b.example"))!;
      assert.deepEqual([maxConcurrency, own, group], [1, OTHER, null]);
      assert.equal((await shared(kit, "a.example")).maxConcurrency, 5);
    },
  );

  scenario("a change of the group and of a limit at once holds for the whole group", async (kit) => {
    await join(kit, "a.example");
    const set = await kit.store.setSite("b.example", { group: "shop", maxConcurrency: 9 });
    assert.equal(set.maxConcurrency, 9);
    assert.equal((await shared(kit, "a.example")).maxConcurrency, 9);
  });

  scenario("a site that is paused, rests or keeps failing is not asked again by joining others", async (kit) => {
    await kit.runWith(["a", elsewhere("b")]);
    await join(kit, "a.example");
    const polite = async (lane: string, site: string, politeness: Politeness) => {
      const hold = await kit.take("A", lane);
      await kit.store.settle([{ hold, tasks: [], site: { site, politeness } }], kit.now);
      await kit.store.releaseLane(hold);
    };
    const closed = { failures: 4, pages: [], openUntil: null, failedProbes: 0 };
    const open = { failures: 1, pages: [], openUntil: kit.now + 60_000, failedProbes: 2 };
    await polite(SHOP, "a.example", { holdUntil: kit.now + 9000, holdStep: 1, breaker: closed });
    await polite(OTHER, "b.example", { holdUntil: kit.now + 5000, holdStep: 2, breaker: open });
    await kit.store.setSite("b.example", { paused: true });
    await join(kit, "b.example");
    for (const site of ["a.example", "b.example"]) {
      const { paused, holdUntil, holdStep, breaker } = (await kit.store.site(site))!;
      assert.deepEqual(
        { paused, holdUntil, holdStep, breaker },
        {
          paused: true,
          holdUntil: kit.now + 9000,
          holdStep: 2,
          breaker: open,
        },
      );
    }
  });

  scenario("work that had ended when its site moved is tried again in the group's lane", async (kit) => {
    const run = await kit.runWith(["a", "x"]);
    const lane = await kit.take("A");
    await kit.work(lane, FAILED);
    await join(kit, "a.example");
    const { lanes } = await kit.store.retryFailed(run.id, { site: "a.example", limit: 1 }, kit.now);
    assert.deepEqual(lanes, [SHOP]);
    await kit.expectClean();
    const group = await kit.take("A", SHOP);
    await kit.work(group, DONE);
    assert.deepEqual((await kit.enqueue(run, ["later"])).lanes, [SHOP]);
    await kit.expectClean();
    await kit.work(group, DONE);
    assert.deepEqual(await kit.counts(run), { completed: 2, failed: 1 });
  });

  scenario("a redirect to a site of a group goes into the group's lane", async (kit) => {
    await kit.runWith(["a"]);
    await join(kit, "b.example");
    const settled = await kit.work(await kit.take("A"), movedTo(OTHER));
    assert.deepEqual(settled.opened, [SHOP]);
    assert.deepEqual(keysOf(await kit.claim(await kit.take("A", SHOP))), ["a"]);
  });

  scenario(
    "a paused site of a group keeps the whole group from its work, and is let go by any of them",
    async (kit) => {
      await kit.runWith(["a", elsewhere("b")]);
      await join(kit, "a.example", "b.example");
      await kit.store.setSite("a.example", { paused: true });
      await kit.enter("A");
      assert.deepEqual(await kit.store.lanesWithWork("A"), []);
      await kit.store.setSite("b.example", { paused: false });
      assert.deepEqual(await kit.store.lanesWithWork("A"), [{ lane: SHOP, readyAt: 0 }]);
    },
  );

  scenario("the sites of a group are found by it, and names that are none are refused", async (kit) => {
    await join(kit, "b.example", "a.example");
    await kit.store.setSite("c.example", { group: "shop-2.x_Y" });
    const of = async (group: string) => (await kit.store.sites({ group, limit: 10 }, kit.now)).map(({ site }) => site);
    assert.deepEqual(await of("shop"), ["a.example", "b.example"]);
    assert.deepEqual(await of("shop-2.x_Y"), ["c.example"]);
    for (const group of ["", "a b", "a/b", "x".repeat(101), "ä"])
      await refusedField("group", kit.store.setSite("a.example", { group }));
    assert.deepEqual(await of("shop"), ["a.example", "b.example"]);
  });

  scenario("a group that is set again moves nothing", async (kit) => {
    await kit.runWith(["a"]);
    await join(kit, "a.example");
    const lane = await kit.take("A", SHOP);
    const { tasks } = await kit.claim(lane);
    await join(kit, "a.example");
    assert.deepEqual((await kit.settle(lane, tasks, HANDED_BACK)).lost, []);
    assert.deepEqual(keysOf(await kit.claim(lane)), ["a"]);
  });
}
