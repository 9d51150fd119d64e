import assert from "node:assert/strict";
import { test } from "node:test";
import { CLOSED_BREAKER } from "../../src/domain/lane/circuit.ts";
import { failure } from "../../src/domain/run/failure.ts";
import { Pace } from "../../src/lanes/limits/pace.ts";
import { answer, make, RULES, site, waitOf, whyOf } from "./pace-kit.ts";

test("a 429 holds the site for as long as it asks", async () => {
  const { clock, pace, one } = make();
  const events = one(answer(429, 42_000));
  assert.deepEqual(
    events.map((event) => event.message.replace(/\d\d:\d\d:\d\d/, "then")),
    ["Site rate limited: a.example until then UTC, because the server answered 429 (too many requests)"],
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
    ["Circuit opened: a.example until then UTC, because the server answered 500 (server error)"],
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

test("what cannot be a page's own fault opens the breaker, however much the site has answered and whoever tries", () => {
  for (const what of [answer(403), failure("connection_refused", "refused")]) {
    const { pace } = make();
    for (let n = 0; n < 5; n += 1) {
      pace.start();
      pace.end(what, undefined, "a.example", { page: `${n}`, isRetry: true, answered: 100 });
    }
    assert.equal(whyOf(pace), "circuit_open", what.reason);
  }
  const { pace } = make();
  for (let n = 0; n < 40; n += 1) {
    pace.start();
    pace.end(answer(500), undefined, "a.example", { page: `${n}`, isRetry: false, answered: 100 });
  }
  assert.equal(whyOf(pace), "go", "forty broken pages among more than a hundred good ones");
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
  pace.refresh(site({ breaker: { failures: 5, pages: [], openUntil: clock.now() + 60_000, failedProbes: 0 } }));
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
