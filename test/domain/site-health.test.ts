import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../support/properties.ts";
import { failure } from "../../src/domain/run/failure.ts";
import {
  HealthMeter,
  mergeHealth,
  NO_HEALTH,
  outcomeOf,
  type SiteHealth,
  summaryOf,
  type SiteOutcome,
} from "../../src/domain/site/site-health.ts";

const NOW = Date.UTC(2026, 2, 1, 12, 0, 30);
const MINUTE = 60_000;

interface Happening {
  outcome: SiteOutcome;
  ms: number | null;
  afterMs: number;
}

const happening = fc.record({
  outcome: fc.constantFrom<SiteOutcome>("good", "failed", "blocked"),
  ms: fc.option(fc.integer({ min: 0, max: 100_000 })),
  afterMs: fc.integer({ min: 0, max: 40_000 }),
});
const happenings = fc.array(happening, { maxLength: 80 });

/** What somebody has counted who saw these one after the other, and when the last of them was. */
function counted(all: readonly Happening[], before: SiteHealth | null = null, from = NOW) {
  const meter = new HealthMeter(before);
  let now = from;
  for (const { outcome, ms, afterMs } of all) {
    now += afterMs;
    meter.add(outcome, ms, now);
  }
  return { health: meter.read(now), now };
}

test("what is told of the last ten minutes is what happened in them, and nothing older", () => {
  fc.assert(
    fc.property(happenings, fc.integer({ min: 0, max: 30 * MINUTE }), (all, later) => {
      const { health, now } = counted(all);
      const at = now + later;
      const oldest = Math.floor(at / MINUTE) - 9;
      const expected = { good: 0, failed: 0, blocked: 0 };
      let time = NOW;
      for (const { outcome, afterMs } of all) {
        time += afterMs;
        if (Math.floor(time / MINUTE) >= oldest) expected[outcome] += 1;
      }
      const { good, failed, blocked, errorRate } = summaryOf(health, at);
      assert.deepEqual({ good, failed, blocked }, expected);
      const sum = good + failed + blocked;
      assert.equal(errorRate, sum === 0 ? null : (failed + blocked) / sum);
      assert.ok(health.slots.length <= 10);
    }),
  );
});

test("whoever goes on with what another has counted counts as if it had been there all the time", () => {
  fc.assert(
    fc.property(happenings, happenings, (first, second) => {
      const before = counted(first);
      const stored = JSON.parse(JSON.stringify(before.health)) as SiteHealth;
      assert.deepEqual(counted(second, stored, before.now), counted([...first, ...second]));
    }),
  );
});

test("two that counted at the same time are put together in any order, and nothing is lost", () => {
  fc.assert(
    fc.property(happenings, happenings, happenings, (one, two, three) => {
      const parts = [one, two, three].map((all) => counted(all));
      const [a, b, c] = parts.map(({ health }) => health) as [SiteHealth, SiteHealth, SiteHealth];
      assert.deepEqual(mergeHealth(a, b), mergeHealth(b, a));
      assert.deepEqual(mergeHealth(mergeHealth(a, b), c), mergeHealth(a, mergeHealth(b, c)));
      assert.deepEqual(mergeHealth(a, NO_HEALTH), a);
      const now = Math.max(...parts.map((part) => part.now));
      const sums = [a, b, c].map((health) => summaryOf(health, now));
      const together = summaryOf(mergeHealth(mergeHealth(a, b), c), now);
      for (const what of ["good", "failed", "blocked"] as const)
        assert.equal(
          together[what],
          sums.reduce((total, part) => total + part[what], 0),
        );
    }),
  );
});

test("percentiles are as those of a sorted list, but for a twentieth", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 600_000 }), { minLength: 1, maxLength: 300 }), (times) => {
      const { health, now } = counted(times.map((ms) => ({ outcome: "good", ms, afterMs: 1 })));
      const { p50Ms, p95Ms } = summaryOf(health, now);
      const sorted = times.toSorted((a, b) => a - b);
      for (const [got, part] of [
        [p50Ms, 0.5],
        [p95Ms, 0.95],
      ] as const) {
        const exact = sorted[Math.ceil(part * sorted.length) - 1]!;
        assert.ok(got !== null && Math.abs(got - exact) <= exact * 0.05 + 1, `${got} for ${exact}`);
      }
      assert.ok(p50Ms! <= p95Ms!);
    }),
  );
});

test("a site that was never measured has no percentiles, and one that fails has answered nothing", () => {
  const { health, now } = counted([
    { outcome: "good", ms: null, afterMs: 0 },
    { outcome: "failed", ms: 20, afterMs: 0 },
  ]);
  const { p50Ms, p95Ms } = summaryOf(health, now);
  assert.deepEqual([p50Ms, p95Ms], [null, null]);
  assert.equal(summaryOf(null, now).errorRate, null);
});

test("the rate is that of now: soon after the start, in the middle of a minute, and after the end", () => {
  const often = Array.from({ length: 50 }, () => ({ outcome: "good" as const, ms: null, afterMs: 100 }));
  const { health, now } = counted(often);
  assert.ok(Math.abs(summaryOf(health, now).perSecond - 10) < 0.5);
  assert.ok(summaryOf(health, now + 45_000).perSecond < 1.1);
  assert.equal(summaryOf(health, now + 3 * MINUTE).perSecond, 0);
});

test("after a clock was set back, what it called the future is forgotten", () => {
  const { health } = counted([{ outcome: "failed", ms: null, afterMs: 0 }]);
  const earlier = NOW - 60 * MINUTE;
  assert.equal(summaryOf(health, earlier).errorRate, null);
  const after = counted([{ outcome: "good", ms: 5, afterMs: 0 }], health, earlier).health;
  assert.deepEqual([after.slots.length, after.lastSuccessAt], [1, earlier]);
});

test("refusals and pleas for patience are blocks, everything else that fails a failure", () => {
  assert.equal(outcomeOf(null), "good");
  assert.equal(outcomeOf(failure("http_forbidden", "no")), "blocked");
  assert.equal(outcomeOf(failure("http_too_many_requests", "slowly")), "blocked");
  assert.equal(outcomeOf(failure("timeout_total", "late")), "failed");
  assert.equal(outcomeOf(failure("http_not_found", "gone")), "failed");
});
