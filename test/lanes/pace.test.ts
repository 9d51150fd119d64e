import assert from "node:assert/strict";
import { test } from "node:test";
import { Pace } from "../../src/lanes/limits/pace.ts";
import { PaceMemories } from "../../src/lanes/limits/pace-memories.ts";
import type { LaneGrant } from "../../src/store/ports/port.ts";
import { make, RULES, site, waitOf, whyOf } from "./pace-kit.ts";

test("as many at once as the configuration says, or the site's own limit", () => {
  const known = make();
  known.one(null);
  assert.equal(known.startAll(), 10);
  assert.equal(make({ maxConcurrency: 3 }).startAll(), 3);
  const { pace, startAll } = make({ maxConcurrency: 3 });
  startAll();
  pace.end(null);
  assert.equal(startAll(), 1);
});

test("an unknown site gets four requests at once until it is known how fast it is, then one more with every good answer", () => {
  const { pace, startAll } = make();
  assert.equal(startAll(), 4);
  for (let n = 0; n < 7; n += 1) {
    pace.end(null, 50);
    assert.equal(startAll(), 1);
  }
  const started: number[] = [];
  for (let n = 0; n < 4; n += 1) {
    pace.end(null, 50);
    started.push(startAll());
  }
  assert.deepEqual(started, [2, 2, 2, 2]);
});

test("a good answer that was not measured opens an unknown site by one, and one of a kind that never is by all", () => {
  const unmeasured = make();
  assert.equal(unmeasured.startAll(), 4);
  unmeasured.pace.end(null, null);
  assert.equal(unmeasured.startAll(), 2, "in the place of the one that has ended, and one more");
  const never = make();
  never.startAll();
  never.pace.end(null);
  assert.equal(never.startAll(), 7);
});

test("asking changes nothing", () => {
  const { pace } = make({ requestsPerSecond: 1000, maxConcurrency: 1 });
  for (let n = 0; n < 100; n += 1) pace.gate();
  assert.equal(pace.takeChange(), null);
});

test("between two starts lies the delay, and before the first of a new owner too", async () => {
  const { clock, pace } = make({ minDelayMs: 500 });
  assert.equal(waitOf(pace), 500);
  await clock.advance(500);
  assert.equal(pace.gate().kind, "go");
  pace.start();
  await clock.advance(499);
  assert.equal(waitOf(pace), 1);
  await clock.advance(1);
  assert.equal(pace.gate().kind, "go");
});

test("the site's own delay wins over the configured one, also when it is none", () => {
  assert.equal(make({ minDelayMs: 0 }, { minDelayMs: 900 }).pace.gate().kind, "go");
  assert.equal(waitOf(make({}, { minDelayMs: 900 }).pace), 900);
});

test("of the delays of the site, of the configuration and of robots.txt the longest holds, and says which it is", async () => {
  const asked = make({ minDelayMs: 500, crawlDelayMs: 2000 });
  assert.deepEqual([waitOf(asked.pace), whyOf(asked.pace)], [2000, "crawl_delay"]);
  const slower = make({ minDelayMs: 5000, crawlDelayMs: 2000 });
  assert.deepEqual([waitOf(slower.pace), whyOf(slower.pace)], [5000, "min_delay"]);
  assert.equal(waitOf(make({ crawlDelayMs: 2000 }, { minDelayMs: 900 }).pace), 2000);
  asked.pace.setCrawlDelay("a.example", 0);
  assert.deepEqual([waitOf(asked.pace), whyOf(asked.pace)], [500, "min_delay"]);
  asked.pace.refresh(site({ crawlDelayMs: 1000 }));
  assert.equal(waitOf(asked.pace), 1000);
});

test("a rate lets so many through per second, after a burst at most", async () => {
  const { clock, pace, startAll, one } = make({ requestsPerSecond: 2, burst: 3, maxConcurrency: 1000 });
  one(null);
  // A new owner's bucket is empty: taking a lane over never makes a burst.
  assert.equal(startAll(), 0);
  await clock.advance(500);
  assert.equal(startAll(), 1);
  await clock.advance(60_000);
  assert.equal(startAll(), 3);
  let started = 0;
  for (let second = 0; second < 20; second += 1) {
    await clock.advance(1000);
    started += startAll();
  }
  assert.equal(started, 40);
  assert.equal(whyOf(pace), "rate");
});

test("an owner that takes its own lane again keeps its pace; after another owner it starts anew", async () => {
  const { clock, pace } = make({ requestsPerSecond: 0.1 });
  const memories = new PaceMemories();
  const grant = (epoch: number): LaneGrant => ({
    lane: "site:a.example",
    laneId: 1,
    owner: "me",
    epoch,
    site: site(),
    recovered: 0,
  });
  await clock.advance(9000);
  memories.remember(grant(7), pace.memory());
  const again = new Pace(site({ requestsPerSecond: 0.1 }), RULES, clock, memories.recall(grant(8)));
  assert.equal(waitOf(again), 1000);
  assert.equal(memories.recall(grant(9)), undefined);
});

test("an owner that is told when the site may be asked again waits until then, and no delay of its own besides", async () => {
  for (const limits of [{ requestsPerSecond: 0.1 }, { minDelayMs: 10_000 }]) {
    const { clock, pace } = make(limits);
    pace.start();
    await clock.advance(9000);
    assert.equal(Math.round(pace.restMs), 1000);
    const next = new Pace(site(limits), RULES, clock, undefined, { restMs: pace.restMs });
    assert.equal(Math.round(waitOf(next) ?? 0), 1000);
    await clock.advance(1001);
    assert.equal(next.gate().kind, "go");
    assert.equal(next.restMs, 0);
    next.start();
    assert.equal(Math.round(waitOf(next) ?? 0), 10_000, "then as its limits say");
    const late = new Pace(site(limits), RULES, clock, undefined, { restMs: 0 });
    assert.equal(late.gate().kind, "go");
  }
});
