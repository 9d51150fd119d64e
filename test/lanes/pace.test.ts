import assert from "node:assert/strict";
import { test } from "node:test";
import { CLOSED_BREAKER } from "../../src/domain/circuit.ts";
import { classifyStatus } from "../../src/domain/classify.ts";
import { type Failure, failure } from "../../src/domain/failure.ts";
import { Pace, PaceMemories } from "../../src/lanes/pace.ts";
import type { LaneRules } from "../../src/lanes/rules.ts";
import { NO_TASKS } from "../../src/domain/run-end.ts";
import type { LaneGrant } from "../../src/store/port.ts";
import type { SiteRecord } from "../../src/store/site-records.ts";
import { FakeClock } from "../support/fake-clock.ts";

const RULES: LaneRules = {
  maxPerSite: 10,
  minDelayMs: 0,
  breaker: { failures: 5, cooldownMs: 300_000 },
  retry: {
    backoff: { baseMs: 10_000, maxMs: 300_000 },
    maxAttempts: 3,
    retryAfterMaxMs: 3_600_000,
    rateLimitMaxWaits: 5,
  },
  maxPerResolver: {},
};

function site(more: Partial<SiteRecord> = {}): SiteRecord {
  return {
    site: "a.example",
    lane: "site:a.example",
    maxConcurrency: null,
    requestsPerSecond: null,
    burst: null,
    minDelayMs: null,
    paused: false,
    holdUntil: 0,
    holdStep: 0,
    breaker: CLOSED_BREAKER,
    maxMemoryMb: null,
    strategy: null,
    respectRobots: null,
    shards: null,
    split: 1,
    splitDue: 1,
    group: null,
    dependsOn: [],
    crawlDelayMs: null,
    learned: null,
    health: null,
    waiting: null,
    waitsFor: [],
    counts: NO_TASKS,
    firstSeenAt: null,
    ...more,
  };
}

function make(more: Partial<SiteRecord> = {}, rules: Partial<LaneRules> = {}) {
  const clock = new FakeClock();
  const record = site(more);
  const pace = new Pace(record, { ...RULES, ...rules }, clock);
  /** Starts as many as may start now. */
  const startAll = () => {
    let started = 0;
    for (; pace.gate().kind === "go"; started += 1) pace.start();
    return started;
  };
  const one = (what: Failure | null) => {
    pace.start();
    return pace.end(what);
  };
  return { clock, pace, record, startAll, one };
}

const answer = (status: number, retryAfterMs: number | null = null) => classifyStatus(status, retryAfterMs) as Failure;
const waitOf = (pace: Pace) => {
  const gate = pace.gate();
  assert.equal(gate.kind, "wait");
  return gate.kind === "wait" ? gate.ms : null;
};
const whyOf = (pace: Pace) => {
  const gate = pace.gate();
  return gate.kind === "wait" ? gate.why : gate.kind;
};

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
  const own = make({ minDelayMs: 5000, crawlDelayMs: 2000 });
  assert.deepEqual([waitOf(own.pace), whyOf(own.pace)], [5000, "min_delay"]);
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

test("a 429 holds the site for as long as it asks", async () => {
  const { clock, pace, one } = make();
  const events = one(answer(429, 42_000));
  assert.deepEqual(
    events.map((event) => event.message.replace(/\d\d:\d\d:\d\d/, "then")),
    ["Site held: a.example until then UTC, as the server answered 429 (too many requests)"],
  );
  assert.equal(waitOf(pace), 42_000);
  assert.equal(whyOf(pace), "rate_limited");
  await clock.advance(42_000);
  assert.equal(pace.gate().kind, "go");
});

test("what was under way with the first refusal is no other hold, a much longer one is", async () => {
  const { clock, pace } = make({ maxConcurrency: 4 });
  for (let n = 0; n < 4; n += 1) pace.start();
  assert.equal(pace.end(answer(429, 30_000)).length, 1);
  await clock.advance(200);
  assert.equal(pace.end(answer(429, 30_000)).length, 0);
  assert.equal(pace.end(answer(429, 300_000)).length, 1);
  assert.equal(pace.end(answer(429)).length, 0);
});

test("a longer Retry-After than allowed holds the site for the allowed time", () => {
  const { pace, one } = make();
  one(answer(429, 86_400_000));
  assert.equal(waitOf(pace), 3_600_000);
});

test("without a Retry-After the hold doubles each time, up to a ceiling, and a good answer forgives", async () => {
  const { clock, pace, one } = make({}, { breaker: { failures: 100, cooldownMs: 1 } });
  for (const seconds of [10, 20, 40, 80, 160, 300, 300]) {
    one(answer(429));
    assert.equal(waitOf(pace), seconds * 1000);
    await clock.advance(seconds * 1000);
  }
  one(null);
  one(answer(429));
  assert.equal(waitOf(pace), 10_000);
});

test("a 503 holds the site with and without a Retry-After", () => {
  const withHeader = make();
  withHeader.one(answer(503, 7000));
  assert.equal(waitOf(withHeader.pace), 7000);
  const without = make();
  without.one(answer(503));
  assert.equal(waitOf(without.pace), 10_000);
});

test("refusals of requests that were under way together are one refusal", () => {
  const { pace, startAll } = make({ maxConcurrency: 4 });
  startAll();
  for (let n = 0; n < 4; n += 1) pace.end(answer(429));
  assert.equal(waitOf(pace), 10_000);
  assert.equal(pace.takeChange()?.holdStep, 1);
});

test("a burst that is refused together opens no breaker; refusals one after the other do", async () => {
  const { clock, pace, startAll, one } = make();
  startAll();
  for (let n = 0; n < 10; n += 1) pace.end(answer(429, 1000));
  assert.equal(pace.breaker.failures, 1);
  for (let n = 0; n < 4; n += 1) {
    await clock.advance(1000);
    one(answer(429, 1000));
  }
  assert.equal(whyOf(pace), "circuit_open");
});

test("after a refusal a site is asked for one page at a time, then for more and more", async () => {
  const { clock, pace, startAll, one } = make({ maxConcurrency: 8 });
  one(null);
  assert.equal(startAll(), 8);
  for (let n = 0; n < 8; n += 1) pace.end(answer(429, 1000));
  await clock.advance(1000);
  const sizes: number[] = [];
  for (let round = 0; round < 60; round += 1) {
    const started = startAll();
    sizes.push(started);
    for (let n = 0; n < started; n += 1) pace.end(null);
  }
  assert.deepEqual(sizes.slice(0, 4), [1, 2, 4, 4], "quickly up to half of what was too much");
  assert.ok(sizes[10]! <= 5, "then slowly");
  assert.equal(sizes.at(-1), 8, "and in the end as if nothing had been");
});

test("a site that refuses one at a time gets pauses between, which grow with refusals and shrink with good answers", async () => {
  const { clock, pace, one } = make({ maxConcurrency: 1 }, { breaker: { failures: 100, cooldownMs: 1 } });
  const pauses: (number | null)[] = [];
  for (let n = 0; n < 3; n += 1) {
    one(answer(429, 100));
    await clock.advance(100);
    pauses.push(waitOf(pace));
    await clock.advance(10_000);
  }
  assert.deepEqual(pauses, [150, 400, 900]);
  for (let n = 0; n < 30; n += 1) {
    one(null);
    await clock.advance(1000);
  }
  one(null);
  assert.equal(pace.gate().kind, "go");
});

test("an owner that takes its own lane again approaches the site as carefully as before", async () => {
  const { clock, pace, startAll } = make();
  startAll();
  for (let n = 0; n < 10; n += 1) pace.end(answer(429, 1000));
  await clock.advance(1000);
  const again = new Pace(site(), RULES, clock, pace.memory());
  again.start();
  assert.equal(whyOf(again), "concurrency");
  // A new process knows only that the site refused and has not answered well since.
  const stranger = new Pace(site({ holdStep: 1 }), RULES, clock);
  stranger.start();
  assert.equal(whyOf(stranger), "concurrency");
});

test("a good answer that was under way does not lift a hold", () => {
  const { pace } = make({ maxConcurrency: 2 });
  pace.start();
  pace.start();
  pace.end(answer(429));
  pace.end(null);
  assert.equal(waitOf(pace), 10_000);
});

test("the breaker opens after five failures in a row, lets one probe through, and closes on its success", async () => {
  const { clock, pace, one, startAll } = make();
  for (let n = 0; n < 4; n += 1) assert.deepEqual(one(answer(500)), []);
  assert.equal(pace.gate().kind, "go");
  assert.deepEqual(
    one(answer(500)).map(({ message }) => message.replace(/\d\d:\d\d:\d\d/, "then")),
    ["Breaker opened: a.example until then UTC, as the server answered 500 (server error)"],
  );
  assert.equal(waitOf(pace), 300_000);
  assert.equal(whyOf(pace), "circuit_open");
  await clock.advance(300_000);
  assert.equal(startAll(), 1);
  assert.equal(whyOf(pace), "probing");
  pace.end(null);
  assert.equal(startAll(), 10);
});

test("a success in between starts the count anew", () => {
  const { pace, one } = make();
  for (let n = 0; n < 20; n += 1) one(n % 5 === 4 ? null : answer(500));
  assert.equal(pace.gate().kind, "go");
});

test("a failed probe opens the breaker again, and after three the site is given up", async () => {
  const { clock, pace, one } = make();
  for (let n = 0; n < 5; n += 1) one(answer(500));
  for (let probe = 1; probe <= 3; probe += 1) {
    assert.equal(pace.gate().kind, "wait");
    await clock.advance(300_000);
    assert.equal(one(answer(500)).length, 1);
    assert.equal(pace.breaker.failedProbes, probe);
  }
  assert.equal(pace.gate().kind, "give_up");
  // When the rest is over, it is tried once more.
  await clock.advance(300_000);
  assert.equal(pace.gate().kind, "go");
  one(null);
  assert.deepEqual(pace.breaker, CLOSED_BREAKER);
});

test("404s, our own refusals and broken handlers open no breaker", () => {
  const { pace, one } = make();
  for (let n = 0; n < 50; n += 1) one(answer(404));
  for (let n = 0; n < 50; n += 1) one(failure("handler_timeout", "slow handler"));
  for (let n = 0; n < 50; n += 1) {
    pace.start();
    pace.end(undefined);
  }
  assert.equal(pace.gate().kind, "go");
  assert.equal(pace.breaker.failures, 0);
});

test("what the site asked for is handed out once for storing, and a new owner goes on with it", async () => {
  const { clock, pace, one } = make();
  assert.equal(pace.takeChange(), null);
  for (let n = 0; n < 5; n += 1) one(answer(500));
  const stored = pace.takeChange();
  assert.ok(stored !== null);
  assert.equal(pace.takeChange(), null);
  await clock.advance(1000);
  const next = new Pace(site(stored), RULES, clock);
  assert.equal(whyOf(next), "circuit_open");
  assert.equal(waitOf(next), 299_000);
});

test("limits change under way: fewer at once, a rate, a pause, and back", async () => {
  const { clock, pace, startAll } = make({ maxConcurrency: 4 });
  assert.equal(startAll(), 4);
  pace.refresh(site({ maxConcurrency: 2 }));
  pace.end(null);
  pace.end(null);
  assert.equal(startAll(), 0);
  pace.end(null);
  assert.equal(startAll(), 1);
  pace.refresh(site({ maxConcurrency: 10, paused: true }));
  assert.equal(whyOf(pace), "paused");
  pace.refresh(site({ maxConcurrency: 10, requestsPerSecond: 1 }));
  await clock.advance(1000);
  assert.equal(startAll(), 1);
  pace.refresh(site({ maxConcurrency: 10 }));
  assert.equal(startAll(), 7);
});

test("a site that joins the group brings along the patience it was asked for", () => {
  const { pace, clock } = make();
  pace.refresh(site({ holdUntil: clock.now() + 5000, holdStep: 1 }));
  assert.deepEqual(pace.gate(), { kind: "wait", ms: 5000, why: "rate_limited" });
  pace.refresh(site({ holdUntil: clock.now() + 1000, holdStep: 1 }));
  assert.deepEqual(pace.gate(), { kind: "wait", ms: 5000, why: "rate_limited" });
  pace.refresh(site({ breaker: { failures: 5, openUntil: clock.now() + 60_000, failedProbes: 0 } }));
  assert.equal(pace.isHeld, true);
  assert.equal(pace.breaker.openUntil, clock.now() + 60_000);
});

test("an operator who resets the breaker opens the way at once", () => {
  const { pace, one } = make();
  for (let n = 0; n < 5; n += 1) one(answer(500));
  pace.takeChange();
  pace.refresh(site());
  assert.equal(pace.gate().kind, "go");
});

test("limits that change before the breaker's opening is stored do not close it", () => {
  const { pace, one } = make();
  for (let n = 0; n < 5; n += 1) one(answer(500));
  pace.takeChange();
  // Handed over for writing, but the store still says what it said before.
  pace.refresh(site({ maxConcurrency: 3 }), { settling: true });
  assert.equal(whyOf(pace), "circuit_open");
  assert.equal(pace.concurrency, 3);
});
