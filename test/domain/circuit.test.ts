import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../support/properties.ts";
import {
  type Breaker,
  breakerAfterFailure,
  breakerAfterSuccess,
  breakerPhase,
  CLOSED_BREAKER,
} from "../../src/domain/lane/circuit.ts";

const RULE = { failures: 3, cooldownMs: 1000 };

function afterFailures(count: number, now: number, from: Breaker = CLOSED_BREAKER): Breaker {
  let breaker = from;
  for (let n = 0; n < count; n += 1) breaker = breakerAfterFailure(breaker, RULE, now);
  return breaker;
}

test("closed until the failures in a row reach the rule, then open for the cool-down, then half open", () => {
  assert.equal(breakerPhase(afterFailures(2, 0), 0), "closed");
  const open = afterFailures(3, 100);
  assert.deepEqual(open, { failures: 3, pages: [], openUntil: 1100, failedProbes: 0 });
  assert.deepEqual(
    [100, 1099, 1100, 99_999].map((now) => breakerPhase(open, now)),
    ["open", "open", "half_open", "half_open"],
  );
});

test("a success in between starts the count again", () => {
  const breaker = breakerAfterSuccess(afterFailures(2, 0));
  assert.deepEqual(breaker, CLOSED_BREAKER);
  assert.equal(breakerPhase(afterFailures(2, 0, breaker), 0), "closed");
});

test("a probe's success closes it; its failure opens it for another cool-down and is counted", () => {
  const open = afterFailures(3, 0);
  assert.deepEqual(breakerAfterSuccess(open), CLOSED_BREAKER);
  const again = breakerAfterFailure(open, RULE, 1000);
  assert.deepEqual([again.openUntil, again.failedProbes], [2000, 1]);
  const third = breakerAfterFailure(again, RULE, 2500);
  assert.deepEqual([third.openUntil, third.failedProbes], [3500, 2]);
});

const fails = (breaker: Breaker, page: string, more: { isRetry?: boolean; answered?: number } = {}) =>
  breakerAfterFailure(breaker, RULE, 0, { page, isRetry: false, answered: 0, ...more });

test("a page that fails again and again is one page, whoever asks for it", () => {
  let breaker = CLOSED_BREAKER;
  for (let n = 0; n < 20; n += 1) breaker = fails(breaker, "a");
  assert.deepEqual([breaker.failures, breaker.openUntil], [1, null]);
  breaker = fails(fails(breaker, "b"), "c");
  assert.equal(breaker.openUntil, 1000);
});

test("retries alone never open it: of broken pages that are left at the end nobody can tell", () => {
  let breaker = CLOSED_BREAKER;
  for (let n = 0; n < 20; n += 1) breaker = fails(breaker, `${n}`, { isRetry: true });
  assert.equal(breaker, CLOSED_BREAKER);
});

test("a site that has answered others of late must fail as many, but fifty are enough", () => {
  const afterPages = (count: number, answered: number) => {
    let breaker = CLOSED_BREAKER;
    for (let n = 0; n < count; n += 1) breaker = fails(breaker, `${n}`, { answered });
    return breakerPhase(breaker, 0);
  };
  assert.deepEqual([afterPages(19, 20), afterPages(20, 20)], ["closed", "open"]);
  assert.deepEqual([afterPages(49, 10_000), afterPages(50, 10_000)], ["closed", "open"]);
  assert.deepEqual([afterPages(2, 1), afterPages(3, 1)], ["closed", "open"]);
});

test("requests that were under way when it opened do not push the reopening away", () => {
  const open = afterFailures(3, 0);
  const late = afterFailures(10, 900, open);
  assert.deepEqual([late.openUntil, late.failedProbes], [1000, 0]);
});

test("with any history: open exactly while its time runs, never before enough failures in a row", () => {
  const step = fc.record({ ok: fc.boolean(), ms: fc.integer({ min: 0, max: 1500 }) });
  fc.assert(
    fc.property(fc.array(step), fc.integer({ min: 1, max: 6 }), (steps, failures) => {
      const rule = { failures, cooldownMs: 1000 };
      let breaker = CLOSED_BREAKER;
      let now = 0;
      let inARow = 0;
      for (const { ok, ms } of steps) {
        now += ms;
        const before = breakerPhase(breaker, now);
        breaker = ok ? breakerAfterSuccess(breaker) : breakerAfterFailure(breaker, rule, now);
        inARow = ok ? 0 : inARow + 1;
        assert.equal(breaker.failures, inARow);
        assert.equal(breakerPhase(breaker, now), inARow >= failures ? "open" : "closed");
        if (breaker.openUntil !== null) assert.ok(breaker.openUntil <= now + rule.cooldownMs);
        if (ok) assert.deepEqual(breaker, CLOSED_BREAKER);
        if (!ok && before === "half_open") assert.equal(breaker.openUntil, now + rule.cooldownMs);
      }
    }),
  );
});
