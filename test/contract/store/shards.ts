import assert from "node:assert/strict";
import type { LaneGrant } from "../../../src/store/ports/port.ts";
import type { Politeness, SiteLimits } from "../../../src/store/records/site-records.ts";
import { DONE, FAILED, keysOf, type Kit, LANE, movedTo, newTask, refusedField, retryAt, type Scenario } from "./kit.ts";

const SITE = "a.example";
const shardLanes = (count: number) => Array.from({ length: count }, (_, n) => (n === 0 ? LANE : `${LANE}#${n}`));
const many = (count: number, letter = "t") => Array.from({ length: count }, (_, n) => `${letter}${n}`);

/** What a site must allow to be divided. */
const divided = (kit: Kit, shards: number, more: Partial<SiteLimits> = {}) =>
  kit.store.setSite(SITE, { maxConcurrency: 8, minDelayMs: 0, shards, ...more });

/** All shards of the site, as one owner has them. */
async function takeAll(kit: Kit, owner: string, count: number): Promise<LaneGrant[]> {
  const grants: LaneGrant[] = [];
  await kit.enter(owner);
  for (const lane of shardLanes(count)) {
    const grant = await kit.store.takeLane(lane, owner, 60_000);
    assert.ok(grant !== null, lane);
    grants.push(grant);
  }
  return grants;
}

const release = async (kit: Kit, grants: readonly LaneGrant[]) => {
  for (const grant of grants) await kit.store.releaseLane(grant);
};

/** A site in so many shards, with nothing to do. */
async function ready(kit: Kit, shards: number, more: Partial<SiteLimits> = {}): Promise<LaneGrant[]> {
  await kit.runWith(["first"]);
  await divided(kit, shards, more);
  const lane = await kit.take("A");
  await kit.work(lane, DONE);
  await kit.store.releaseLane(lane);
  return takeAll(kit, "A", shards);
}

export function shardScenarios(scenario: Scenario): void {
  scenario("a site with shards has its tasks dealt out to as many lanes, always in the same way", async (kit) => {
    const lanes = await ready(kit, 3);
    assert.deepEqual(
      lanes.map(({ shard, site }) => [shard?.index, shard?.of, site?.shardCount, site?.lane]),
      [0, 1, 2].map((index) => [index, 3, 3, LANE]),
    );
    const run = await kit.runWith(many(60));
    assert.deepEqual((await kit.enqueue(run, many(60))).added, 0);
    const dealt = [];
    for (const lane of lanes) dealt.push(keysOf(await kit.claim(lane)));
    assert.deepEqual(dealt.flat().toSorted(), many(60).toSorted());
    for (const keys of dealt) assert.ok(keys.length > 4, `no lane has few of them: ${dealt.map((own) => own.length)}`);
    const [counts] = await kit.store.counts(run.id);
    assert.deepEqual([counts?.site, counts?.lane, counts?.counts.running], [SITE, LANE, 60]);
    const overview = await kit.store.overview(run.id, 10);
    assert.deepEqual(
      overview.open.map((one) => [one.site, one.lane, one.counts.running]),
      [[SITE, LANE, 60]],
    );
    assert.equal((await kit.store.runSites(run.id, { limit: 5 }))[0]?.laneRunning, 60);
    await kit.expectClean();
  });

  scenario("shards on a live crawl: what is in flight ends first, and nothing is lost or done twice", async (kit) => {
    const run = await kit.runWith(many(40));
    const lane = await kit.take("A");
    const { tasks } = await kit.claim(lane, 4);
    const version = await kit.store.controlVersion();
    assert.deepEqual([(await divided(kit, 4)).shardCount, (await kit.store.site(SITE))?.targetShardCount], [1, 4]);
    assert.ok((await kit.store.controlVersion()) > version, "its owner hears of it");
    assert.deepEqual((await kit.settle(lane, tasks.slice(0, 2), DONE)).lost, [], "and keeps its lane until it is done");
    assert.deepEqual((await kit.settle(lane, tasks.slice(2), retryAt(kit.now + 5000))).lost, []);
    await kit.store.releaseLane(lane);
    const first = await kit.take("A");
    assert.deepEqual([first.shard, first.opened], [{ index: 0, of: 4 }, [LANE]]);
    const begun = await kit.claim(first, 5);
    assert.deepEqual(begun.opened, shardLanes(4).slice(1), "the others get some of what was queued");
    const others = await Promise.all(
      shardLanes(4)
        .slice(1)
        .map((name) => kit.store.takeLane(name, "A", 60_000)),
    );
    const done = [...tasks.slice(0, 2), ...begun.tasks].map(({ key }) => key);
    for (const other of others) {
      const claimed = await kit.claim(other!, 5);
      assert.equal(claimed.tasks.length, 5);
      done.push(...claimed.tasks.map(({ key }) => key));
      await kit.settle(other!, claimed.tasks, DONE);
    }
    await kit.settle(first, begun.tasks, DONE);
    assert.equal(new Set(done).size, 22);
    await kit.expectClean();
    kit.pass(5000);
    for (const one of [first, ...others.map((other) => other!)]) await kit.work(one, DONE);
    assert.deepEqual(await kit.counts(run), { completed: 40 });
    assert.equal(await kit.status(run), "completed");
  });

  scenario(
    "while a site is divided anew its lanes are for nobody until the last of them is given back",
    async (kit) => {
      const lanes = await ready(kit, 3);
      const run = await kit.runWith(many(90));
      const claimed = await Promise.all(lanes.map((lane) => kit.claim(lane, 4)));
      await kit.store.setSite(SITE, { shards: 2 });
      const [zero, one, two] = lanes as [LaneGrant, LaneGrant, LaneGrant];
      await kit.settle(two, claimed[2]!.tasks, DONE);
      await kit.store.releaseLane(two);
      assert.equal(await kit.store.takeLane(`${LANE}#2`, "A", 60_000), null);
      assert.equal((await kit.store.lanesWithWork("B")).length, 0, "nobody is sent there");
      await kit.settle(one, claimed[1]!.tasks, DONE);
      await kit.store.releaseLane(one);
      assert.equal(await kit.store.takeLane(`${LANE}#2`, "A", 60_000), null);
      await kit.settle(zero, claimed[0]!.tasks, DONE);
      await kit.store.releaseLane(zero);
      const last = (await kit.store.takeLane(`${LANE}#2`, "A", 60_000))!;
      assert.deepEqual(last.opened?.toSorted(), shardLanes(2));
      assert.deepEqual(keysOf(await kit.claim(last)), [], "there is no such shard any more");
      await kit.expectClean();
      for (const lane of await takeAll(kit, "A", 2)) {
        assert.equal(lane.shard?.of, 2);
        await kit.work(lane, DONE);
      }
      assert.deepEqual(await kit.counts(run), { completed: 90 });
    },
  );

  scenario("what a dead owner of a shard had goes on, also when the site was divided anew meanwhile", async (kit) => {
    const lanes = await ready(kit, 4);
    const run = await kit.runWith(many(40));
    let inHand = 0;
    for (const lane of lanes) inHand += (await kit.claim(lane, 5)).tasks.length;
    await kit.store.setSite(SITE, { shards: 1 });
    kit.pass(60_001);
    const lane = await kit.takeOver("B", `${LANE}#1`);
    assert.deepEqual(lane.opened, [LANE]);
    const own = await kit.take("B");
    assert.deepEqual([own.recovered, own.shard], [inHand, undefined]);
    assert.deepEqual((await kit.settle(lanes[1]!, [], DONE)).lost, [lanes[1]!.laneId]);
    assert.equal((await kit.claim(own)).tasks.length, 40);
    await kit.expectClean();
    await kit.settle(own, (await kit.store.claim(own, { limit: 1 }, kit.now))!.tasks, DONE);
    assert.equal(await kit.status(run), "running");
  });

  scenario(
    "what one shard is told by the site holds for all, and only an answer after the rest frees it",
    async (kit) => {
      const [zero, one] = (await ready(kit, 2)) as [LaneGrant, LaneGrant];
      const closed = { failures: 0, pages: [], openUntil: null, failedProbes: 0 };
      const say = (hold: LaneGrant, politeness: Politeness) =>
        kit.store.settle([{ hold, tasks: [], site: { site: SITE, politeness } }], kit.now);
      const known = async () => {
        const { holdUntil, holdStep, breaker } = (await kit.store.site(SITE))!;
        return [holdUntil - kit.now, holdStep, breaker.openUntil === null ? null : breaker.openUntil - kit.now];
      };
      const heard = async (work: () => Promise<unknown>) => {
        const before = await kit.store.controlVersion();
        await work();
        return (await kit.store.controlVersion()) > before;
      };
      const until = kit.now + 9000;
      assert.ok(await heard(() => say(one, { holdUntil: until, holdStep: 1, breaker: closed })));
      assert.deepEqual(await known(), [9000, 1, null]);
      assert.ok(!(await heard(() => say(zero, { holdUntil: until + 40, holdStep: 1, breaker: closed }))), "no news");
      await say(zero, { holdUntil: kit.now + 1000, holdStep: 0, breaker: closed });
      assert.deepEqual(await known(), [9040, 1, null], "who was told of less knows less");
      kit.pass(10_000);
      const openUntil = kit.now + 300_000;
      const open = { failures: 5, pages: [], openUntil, failedProbes: 0 };
      assert.ok(await heard(() => say(one, { holdUntil: 0, holdStep: 0, breaker: open })));
      await say(zero, { holdUntil: 0, holdStep: 0, breaker: closed });
      assert.deepEqual((await known()).slice(2), [300_000], "an answer that was on its way frees nobody");
      await kit.runWith(many(10));
      await release(kit, [zero, one]);
      const times = await kit.store.lanesWithWork("A");
      assert.deepEqual(new Set(times.map(({ readyAt }) => readyAt)), new Set([openUntil]));
      kit.pass(300_001);
      const [again] = await takeAll(kit, "A", 2);
      assert.ok(await heard(() => say(again!, { holdUntil: 0, holdStep: 0, breaker: closed })));
      assert.deepEqual((await known()).slice(2), [null]);
    },
  );

  scenario("a site is divided only as far as its limits allow, whatever was asked for", async (kit) => {
    const due = async (change: Partial<SiteLimits>) => (await kit.store.setSite(SITE, change)).targetShardCount;
    assert.equal(await due({ shards: 4 }), 1, "nothing is known of what it allows");
    assert.equal(await due({ maxConcurrency: 3, minDelayMs: 0 }), 3);
    assert.equal(await due({ maxConcurrency: 100 }), 4);
    assert.equal(await due({ requestsPerSecond: 50 }), 1);
    assert.equal(await due({ burst: 2 }), 2);
    assert.equal(await due({ requestsPerSecond: null }), 4);
    assert.equal(await due({ minDelayMs: 10 }), 1);
    assert.equal(await due({ minDelayMs: 0 }), 4);
    const bounds = { staleBefore: 0, uselessBefore: 0, mostBytes: 1e9 };
    const copy = { origin: `https://${SITE}`, site: SITE, body: new Uint8Array(), fetchedAt: kit.now };
    const version = await kit.store.controlVersion();
    await kit.store.keepRobots({ ...copy, crawlDelayMs: 2000 }, bounds);
    assert.ok((await kit.store.controlVersion()) > version, "owners hear of a crawl-delay");
    assert.equal((await kit.store.site(SITE))?.targetShardCount, 1);
    await kit.store.keepRobots({ ...copy, crawlDelayMs: null }, bounds);
    assert.equal((await kit.store.site(SITE))?.targetShardCount, 4);
  });

  scenario("a group has no shards, and what was in shards goes along into a group", async (kit) => {
    const lanes = await ready(kit, 3);
    const run = await kit.runWith(many(30));
    for (const lane of lanes) await kit.claim(lane, 2);
    await refusedField("shards", kit.store.setSite(SITE, { group: "shop" }));
    const joined = await kit.store.setSite(SITE, { group: "shop", shards: null });
    assert.deepEqual([joined.lane, joined.shardCount, joined.targetShardCount], ["group:shop", 1, 1]);
    assert.deepEqual((await kit.settle(lanes[2]!, [], DONE)).lost, [lanes[2]!.laneId], "the owners lose their lanes");
    await refusedField("shards", kit.store.setSite(SITE, { shards: 2 }));
    const group = await kit.take("A", "group:shop");
    assert.equal((await kit.claim(group)).tasks.length, 30);
    await kit.expectClean();
    await kit.store.setSite(SITE, { group: null, shards: 3 });
    const own = await kit.take("A");
    assert.deepEqual(own.shard, { index: 0, of: 3 });
    await kit.expectClean();
    assert.equal(await kit.status(run), "running");
  });

  scenario("failed work, redirects and sites that waited come back into the shard they belong to", async (kit) => {
    const lanes = await ready(kit, 2);
    const run = await kit.runWith(many(20));
    for (const lane of lanes) await kit.work(lane, FAILED);
    const { lanes: opened } = await kit.store.retryFailed(run.id, { limit: 100 }, kit.now);
    assert.deepEqual([...new Set(opened)].toSorted(), shardLanes(2));
    await kit.expectClean();
    await kit.store.setSite(SITE, { dependsOn: ["b.example"] });
    await kit.enqueue(run, [newTask("b", { lane: "site:b.example" })]);
    for (const lane of lanes) assert.deepEqual(keysOf(await kit.claim(lane)), [], "it waits in every shard");
    const other = await kit.take("A", "site:b.example");
    const moved = await kit.work(other, movedTo(LANE));
    assert.deepEqual([...new Set(moved.opened)].toSorted(), shardLanes(2));
    const got = [];
    for (const lane of await Promise.all(shardLanes(2).map((name) => retaken(kit, lanes, name))))
      got.push(...keysOf(await kit.claim(lane)));
    assert.deepEqual(got.toSorted(), [...many(20), "b"].toSorted());
    await kit.expectClean();
  });

  scenario("a cancelled run is gone from all shards, and how the site did is counted over them", async (kit) => {
    const lanes = await ready(kit, 2);
    const run = await kit.runWith(many(20));
    const health = { slots: [{ since: kit.now, good: 3, failed: 1, blocked: 0, times: {} }], lastSuccessAt: kit.now };
    for (const hold of lanes) await kit.store.settle([{ hold, tasks: [], health: [{ site: SITE, health }] }], kit.now);
    const [slot] = (await kit.store.site(SITE))!.health!.slots;
    assert.deepEqual([slot?.good, slot?.failed], [6, 2]);
    await kit.store.changeRun(run.id, "cancelled", "Run cancelled", kit.now);
    for (const lane of lanes) assert.deepEqual(keysOf(await kit.claim(lane)), []);
    await release(kit, lanes);
    const [, second] = await takeAll(kit, "A", 2);
    assert.equal(second?.site?.health?.slots[0]?.good, 3, "who goes on counts for itself");
    assert.equal(await kit.store.sweepEnded(100, kit.now), 20);
    await kit.expectClean();
  });
}

/** The lane as `A` has it; where it was given back, taken again. */
async function retaken(kit: Kit, lanes: readonly LaneGrant[], name: string): Promise<LaneGrant> {
  const held = lanes.find(({ lane }) => lane === name)!;
  const still = await kit.store.claim(held, { limit: 0 }, kit.now);
  return still === null ? kit.take("A", name) : held;
}
