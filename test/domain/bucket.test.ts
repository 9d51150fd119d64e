import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../support/properties.ts";
import { type Bucket, emptyBucket, reserveToken, takeToken, usualBurst } from "../../src/domain/lane/bucket.ts";

const rule = fc.record({
  perSecond: fc.double({ min: 0.01, max: 1000, noNaN: true }),
  burst: fc.integer({ min: 1, max: 50 }),
});

test("never grants more than burst + rate × time in any window, however one asks", () => {
  fc.assert(
    fc.property(
      rule,
      fc.array(fc.integer({ min: 0, max: 5000 }), { minLength: 1, maxLength: 200 }),
      (limits, steps) => {
        let now = 1_000_000;
        let bucket: Bucket = emptyBucket(now);
        const granted: number[] = [];
        for (const step of steps) {
          now += step;
          const taken = takeToken(bucket, limits, now);
          bucket = taken.bucket;
          if (taken.waitMs === 0) granted.push(now);
        }
        for (const [first, start] of granted.entries()) {
          for (let last = first; last < granted.length; last += 1) {
            const seconds = ((granted[last] ?? start) - start) / 1000;
            assert.ok(last - first + 1 <= limits.burst + limits.perSecond * seconds + 1e-6);
          }
        }
        // And from its start, when it was empty, not even the burst.
        const whole = (limits.perSecond * (now - 1_000_000)) / 1000;
        assert.ok(granted.length <= whole + 1e-6);
      },
    ),
  );
});

test("who waits as long as told gets the token, and not a millisecond more than needed is asked", () => {
  fc.assert(
    fc.property(rule, fc.integer({ min: 1, max: 50 }), (limits, count) => {
      let now = 0;
      let bucket = emptyBucket(now);
      for (let grants = 0, asked = 0; grants < count; asked += 1) {
        assert.ok(asked <= count * 3, "waiting as told must lead somewhere");
        const taken = takeToken(bucket, limits, now);
        bucket = taken.bucket;
        if (taken.waitMs === 0) grants += 1;
        else assert.ok(taken.waitMs >= 1 && taken.waitMs <= Math.ceil(1000 / limits.perSecond) + 1);
        now += taken.waitMs;
      }
      assert.ok(now <= (count * 1000) / limits.perSecond + count * 2);
    }),
  );
});

test("a new owner starts without a burst; a quiet time fills it up to the burst and no further", () => {
  const limits = { perSecond: 10, burst: 3 };
  const start = takeToken(emptyBucket(0), limits, 0);
  assert.equal(start.waitMs, 100);
  let { bucket } = start;
  const waits = [0, 0, 0, 0].map(() => {
    const taken = takeToken(bucket, limits, 3_600_000);
    bucket = taken.bucket;
    return taken.waitMs;
  });
  assert.deepEqual(waits, [0, 0, 0, 100]);
});

test("a burst below 1 still lets one through at a time", () => {
  assert.equal(takeToken(emptyBucket(0), { perSecond: 1, burst: 0 }, 1000).waitMs, 0);
});

test("a clock that steps back grants nothing for it", () => {
  const limits = { perSecond: 1, burst: 1 };
  const { bucket } = takeToken({ tokens: 1, at: 5000 }, limits, 5000);
  assert.equal(takeToken(bucket, limits, 1000).waitMs, 1000);
});

test("turns that are kept come one after the other at the rate, and whoever asks meanwhile comes after them", () => {
  const limits = { perSecond: 1, burst: 2 };
  let bucket = emptyBucket(0);
  const turns: number[] = [];
  for (let times = 0; times < 3; times += 1) {
    const kept = reserveToken(bucket, limits, 2000);
    bucket = kept.bucket;
    turns.push(kept.waitMs);
  }
  assert.deepEqual(turns, [0, 0, 1000]);
  assert.equal(takeToken(bucket, limits, 2000).waitMs, 2000);
  assert.equal(takeToken(bucket, limits, 4000).waitMs, 0);
});

test("a high rate is reached by timers that are up to three milliseconds late, without a burst having been set", () => {
  for (const perSecond of [40, 100, 333, 500, 2000]) {
    const limits = { perSecond, burst: usualBurst(perSecond) };
    const seconds = 20;
    let [now, granted, late] = [0, 0, 0];
    let bucket: Bucket = emptyBucket(now);
    while (now < seconds * 1000) {
      const taken = takeToken(bucket, limits, now);
      bucket = taken.bucket;
      if (taken.waitMs === 0) granted += 1;
      // Waits are whole milliseconds, and some of them last longer.
      else now += taken.waitMs + (late = (late + 1) % 4);
    }
    assert.ok(granted <= perSecond * seconds + limits.burst);
    assert.ok(granted >= 0.9 * perSecond * seconds, `${granted / seconds} of ${perSecond} a second`);
  }
});
