import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../support/properties.ts";
import { type Random, seededRandom } from "../../src/base/random.ts";
import { AdaptiveConcurrency } from "../../src/lanes/limits/adaptive-concurrency.ts";

/** How long a page takes that is asked for as one of so many; null: it does not come in time. */
type Site = (underWay: number, nth: number) => number | null;

const NEVER_MS = 20_000;

/** Asks a site for pages as a lane does, and says how many were under way at each start. */
class Visitor {
  readonly adaptive = new AdaptiveConcurrency(300_000);
  readonly starts: number[] = [];
  readonly limit: number;
  #now = 0;
  #inFlight: { ends: number; ms: number | null }[] = [];

  constructor(limit: number) {
    this.limit = limit;
  }

  visit(site: Site, pages: number): void {
    for (let left = pages; left > 0 || this.#inFlight.length > 0; this.#endOne()) {
      for (; left > 0 && this.#inFlight.length < this.adaptive.atOnce(this.limit); left -= 1) {
        this.starts.push(this.#inFlight.length + 1);
        const ms = site(this.#inFlight.length + 1, this.starts.length);
        this.#inFlight.push({ ends: this.#now + (ms ?? NEVER_MS), ms });
      }
    }
  }

  /** On average over the newest starts. */
  lately(count: number): number {
    const newest = this.starts.slice(-count);
    return newest.reduce((sum, one) => sum + one, 0) / newest.length;
  }

  #endOne(): void {
    this.#inFlight.sort((a, b) => a.ends - b.ends);
    const first = this.#inFlight.shift();
    if (first === undefined) return;
    this.#now = first.ends;
    if (first.ms === null) this.adaptive.timedOut(this.limit, this.#inFlight.length);
    else this.adaptive.answered(first.ms, this.limit, this.#inFlight.length);
  }
}

/** Serves so many at once well; beyond, everybody waits longer. */
const serves = (capacity: number, baseMs: number): Site => {
  return (underWay) => baseMs * Math.max(1, underWay / capacity);
};

/** Log-normal, as the times of real sites are; `spread` 0.5 makes every tenth page take twice as long. */
function jittery(random: Random, baseMs: number, spread: number): Site {
  return () => {
    const normal = Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
    return baseMs * Math.exp(spread * normal);
  };
}

test("a site that serves four at once well is asked for about that many, not for the ten that are allowed", () => {
  for (const baseMs of [500, 1000, 3000]) {
    const visitor = new Visitor(10);
    visitor.visit(serves(4, baseMs), 2000);
    const settled = visitor.lately(500);
    assert.ok(settled >= 3.5 && settled <= 7, `${settled} at once with ${baseMs} ms`);
  }
});

test("a site that slows down gets fewer at once, step by step, and more again when it has recovered", () => {
  const visitor = new Visitor(10);
  visitor.visit(() => 300, 300);
  assert.equal(visitor.lately(100), 10);
  const before = visitor.starts.length;
  visitor.visit(serves(2, 800), 300);
  const slowed = new Set(visitor.starts.slice(before));
  assert.ok(visitor.lately(100) <= 4, `${visitor.lately(100)} at once while it is slow`);
  assert.ok(slowed.has(7) && slowed.has(5), "in steps");
  visitor.visit(() => 300, 1000);
  assert.equal(visitor.lately(100), 10);
});

test("timeouts count as slowness", () => {
  const visitor = new Visitor(10);
  visitor.visit(() => 200, 200);
  visitor.visit((underWay, nth) => (underWay > 3 && nth % 3 === 0 ? null : 200), 400);
  assert.ok(visitor.lately(100) <= 6, `${visitor.lately(100)} at once`);
  visitor.visit(() => 200, 1000);
  assert.equal(visitor.lately(100), 10);
});

test("a page that never answers does not slow its site down", () => {
  const visitor = new Visitor(10);
  visitor.visit((_underWay, nth) => (nth % 40 === 0 ? null : 200), 1000);
  assert.ok(visitor.lately(800) >= 8, `${visitor.lately(800)} at once`);
});

test("a site that is always slow, or always fast, gets all that is allowed", () => {
  for (const ms of [1, 20, 200, 2000, 15_000]) {
    const visitor = new Visitor(10);
    visitor.visit(() => ms, 500);
    assert.equal(visitor.lately(400), 10, `${ms} ms`);
  }
});

test("a site that becomes slower for good, whatever is asked of it, gets all that is allowed in the end", () => {
  const visitor = new Visitor(10);
  visitor.visit(() => 200, 300);
  visitor.visit(() => 2000, 1500);
  assert.equal(visitor.lately(100), 10);
});

test("whatever the jitter, a healthy site keeps four fifths of its limit", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 2 ** 31 - 1 }),
      fc.integer({ min: 20, max: 3000 }),
      fc.double({ min: 0, max: 0.6, noNaN: true }),
      fc.integer({ min: 5, max: 40 }),
      (seed, baseMs, spread, limit) => {
        const visitor = new Visitor(limit);
        visitor.visit(jittery(seededRandom(seed), baseMs, spread), 3000);
        const share = visitor.lately(2500) / limit;
        assert.ok(share >= 0.8, `${Math.round(share * 100)} % of ${limit}`);
      },
    ),
    { numRuns: 100 },
  );
});

test("whatever a site does, there is at least one at a time and never more than allowed", () => {
  const event = fc.oneof(
    fc.record({ kind: fc.constant("answer" as const), ms: fc.option(fc.integer({ min: 0, max: 60_000 })) }),
    fc.record({ kind: fc.constant("timeout" as const) }),
    fc.record({ kind: fc.constant("refusal" as const) }),
  );
  fc.assert(
    fc.property(fc.array(event, { maxLength: 400 }), fc.integer({ min: 1, max: 50 }), (events, limit) => {
      const adaptive = new AdaptiveConcurrency(300_000);
      for (const what of events) {
        const atOnce = adaptive.atOnce(limit);
        assert.ok(Number.isInteger(atOnce) && atOnce >= 1 && atOnce <= limit, String(atOnce));
        if (what.kind === "answer") adaptive.answered(what.ms ?? undefined, limit, atOnce - 1);
        else if (what.kind === "timeout") adaptive.timedOut(limit, atOnce - 1);
        else adaptive.refused(atOnce);
        assert.ok(adaptive.spacingMs >= 0 && adaptive.spacingMs <= 300_000);
      }
    }),
  );
});
