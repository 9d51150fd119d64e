import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import type { SiteLimits } from "../../src/store/records/site-records.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { assertStored, Orb, report } from "./orb.ts";
import { bodyOf, type Hit, Target } from "./target.ts";

const ITEMS = 160;
const AT_ONCE = 3;
const PER_SECOND = 40;

function itemsOf(target: Target, count: number): { artifact_id: string; url: string }[] {
  return Array.from({ length: count }, (_, index) => ({
    artifact_id: `${index}`,
    url: target.url(`/${index}`, index % target.sites.length),
  }));
}

/** Like another process: the worker learns of it from the store only. */
async function setSites(
  orb: Orb,
  changes: readonly (readonly [string | undefined, Partial<SiteLimits>])[],
): Promise<void> {
  await using store = openSqliteStore({ path: orb.database, clock: systemClock });
  for (const [site = "", change] of changes) await store.setSite(site, change);
}

async function expectStored(orb: Orb): Promise<void> {
  const items = await orb.items();
  for (let index = 0; index < ITEMS; index += 1) {
    assertStored(items.get(`${index}`), bodyOf(`/${index}`), `${index}`);
    assert.equal(items.get(`${index}`)?.attempts, 1, `${index} has one attempt in its history`);
  }
  await orb.audit();
}

/** Requests in flight when this one arrived, itself included. */
function together(hits: readonly Hit[], at: number): number {
  const { start } = hits[at] as Hit;
  return hits.slice(0, at).filter(({ end }) => end === null || end > start).length + 1;
}

/** Requests that a bucket allows between any two of them; requests in flight may be delayed. */
function expectRate(hits: readonly Hit[]): void {
  for (const [from, first] of hits.entries())
    for (const [index, last] of hits.slice(from).entries()) {
      const most = (PER_SECOND * (last.start - first.start)) / 1000 + 1 + AT_ONCE;
      assert.ok(index <= most, `${index} requests in ${last.start - first.start} ms`);
    }
}

describe("sites that are one server", () => {
  test("together they never exceed what the group may have", async () => {
    await using target = await Target.start(2);
    await using orb = new Orb({ APP_MAX_PER_HOST: "8" });
    target.latencyMs = 30;
    await orb.import(itemsOf(target, ITEMS));
    await setSites(orb, [
      [target.sites[0], { group: "shop", maxConcurrency: AT_ONCE, requestsPerSecond: PER_SECOND, burst: 1 }],
      [target.sites[1], { group: "shop" }],
    ]);
    const { code, stderr } = await orb.start(["queue", "run", "--drain"]).end();
    assert.equal(code, 0, stderr);
    const most = Math.max(...target.hits.map((_, index) => together(target.hits, index)));
    assert.ok(most <= AT_ONCE, `${most} at once`);
    const order = target.hits.map(({ site }) => site);
    for (const [one, other] of [target.sites, target.sites.toReversed()])
      assert.ok(order.indexOf(one ?? "") < order.lastIndexOf(other ?? ""), "both have their turns");
    expectRate(target.hits);
    assert.equal(target.hits.length, ITEMS);
    await expectStored(orb);
  });

  test("a group that is made in the middle of the work holds soon, and costs no attempt", async () => {
    await using target = await Target.start(2);
    await using orb = new Orb({ APP_MAX_PER_HOST: "4" });
    target.latencyMs = 60;
    await orb.import(itemsOf(target, ITEMS));
    const engine = orb.start(["queue", "run", "--drain"]);
    await target.when(() => target.hits.length >= 40, "work is under way");
    // Answers are slow until the limit is checked: otherwise little work would be left by then.
    target.latencyMs = 1500;
    const most = Math.max(...target.hits.map((_, index) => together(target.hits, index)));
    const changed = Date.now();
    await setSites(orb, [
      [target.sites[0], { group: "shop", maxConcurrency: AT_ONCE, requestsPerSecond: PER_SECOND, burst: 1 }],
      [target.sites[1], { group: "shop" }],
    ]);
    const { hits } = target;
    const since = () => hits.findLastIndex((_, index) => together(hits, index) > AT_ONCE);
    await target.when(() => hits.length - since() > 2 * AT_ONCE || !engine.alive, "the limit holds");
    target.latencyMs = 30;
    const { code, stderr } = await engine.end();
    assert.equal(code, 0, stderr);
    const last = since();
    const rest = hits.slice(last + 1);
    assert.ok(rest.length >= ITEMS / 2, `of ${hits.length} requests the last ${rest.length} kept to the limit`);
    expectRate(rest);
    // Only pages in flight or unwritten when the owners lost their lanes are fetched again.
    assert.ok(target.repeats <= 24, `${target.repeats} refetches`);
    await expectStored(orb);
    const overMs = Math.max(0, (hits[last]?.start ?? changed) - changed);
    report("a group made in mid-work", {
      "at once before": most,
      "more than the limit for ms": overMs,
      refetches: target.repeats,
    });
  });
});

test("a site that needs another is asked only when that one's work is finished", async () => {
  await using target = await Target.start(3);
  await using orb = new Orb();
  target.latencyMs = 5;
  const [last, first, free] = target.sites;
  // A page of the first site that fails once is only finished after its retry, which comes after a request to another
  // site.
  const freeAsked = Promise.withResolvers<void>();
  target.script = async (path, nth, request) => {
    if (request.headers.host === free) freeAsked.resolve();
    if (path === "/1" && nth === 1) return { status: 503, body: "" };
    if (path === "/1") await freeAsked.promise;
    return { body: bodyOf(path) };
  };
  await orb.import(itemsOf(target, 60));
  await setSites(orb, [[last, { dependsOn: [first ?? ""] }]]);
  const { code, stderr } = await orb.start(["queue", "run", "--drain"]).end();
  assert.equal(code, 0, stderr);
  const sites = target.hits.map(({ site }) => site);
  assert.ok(sites.indexOf(last ?? "") > sites.lastIndexOf(first ?? ""), "one after the other");
  assert.ok(sites.indexOf(free ?? "") < sites.lastIndexOf(first ?? ""), "others do not wait");
  assert.equal(target.hits.length, 61);
  await orb.audit();
});
