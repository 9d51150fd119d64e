import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "../support/properties.ts";
import { failure } from "../../src/domain/run/failure.ts";
import { createRotation, PROXY_ROTATIONS, type ProxyRotation } from "../../src/domain/proxy/proxy-rotation.ts";
import {
  afterUse,
  afterUseAtSite,
  avoidedAtSiteUntil,
  FIRST_SCORE,
  isBlockOfAddress,
  mayBeUsed,
  onProbation,
  type ProxyHealth,
  type ProxyOutcome,
  type SiteRecordOfProxy,
  restMs,
  weightOf,
} from "../../src/domain/proxy/proxy-score.ts";

const FRESH: ProxyHealth = {
  state: "unchecked",
  score: FIRST_SCORE,
  latencyMs: null,
  restUntil: 0,
  restStep: 0,
  lastError: null,
};
const good = (latencyMs: number | null = 100): ProxyOutcome => ({ kind: "good", latencyMs });
const FAULT: ProxyOutcome = { kind: "fault", why: "no connection" };
const UNSURE: ProxyOutcome = { kind: "unsure", why: "reset" };
const BLOCKED: ProxyOutcome = { kind: "blocked" };

const outcomes = fc.array(
  fc.record({
    outcome: fc.oneof(
      fc.constantFrom(FAULT, UNSURE, BLOCKED),
      fc.record({ kind: fc.constant("good" as const), latencyMs: fc.option(fc.integer({ min: 0, max: 60_000 })) }),
    ),
    laterMs: fc.integer({ min: 0, max: 7_200_000 }),
  }),
  { maxLength: 60 },
);

describe("what uses show of a proxy", () => {
  test("one that can be reached and fails in use rests longer each time, until something came through it", () => {
    const reached: ProxyOutcome = { kind: "reached", latencyMs: 5 };
    let [health, now] = [FRESH, 0];
    for (const rest of [30_000, 60_000, 120_000]) {
      health = afterUse(health, reached, now);
      assert.deepEqual([health.state, mayBeUsed(health, now)], ["usable", true]);
      health = afterUse(health, FAULT, now);
      assert.equal(health.restUntil - now, rest);
      now = health.restUntil;
    }
    assert.equal(afterUse(health, good(), now).restStep, 0);
  });

  test("whatever happens, a score stays between 0 and 1, a weight above 0, and a rest below an hour", () => {
    fc.assert(
      fc.property(outcomes, (list) => {
        let health = FRESH;
        let now = 1_000;
        for (const { outcome, laterMs } of list) {
          health = afterUse(health, outcome, now);
          assert.ok(health.score >= 0 && health.score <= 1);
          assert.ok(weightOf(health) > 0);
          assert.ok(health.restUntil <= now + 3_600_000);
          if (outcome.kind === "good" || outcome.kind === "blocked") assert.equal(health.state, "usable");
          if (outcome.kind === "fault") assert.ok(!mayBeUsed(health, now), "a sure fault always makes it rest");
          now += laterMs;
          // Nothing rests for ever.
          assert.ok(mayBeUsed(health, now + 3_600_000));
        }
      }),
    );
  });

  test("what an operator switched off stays off, whatever comes of uses that were under way", () => {
    fc.assert(
      fc.property(outcomes, (list) => {
        let health: ProxyHealth = { ...FRESH, state: "disabled" };
        for (const { outcome } of list) health = afterUse(health, outcome, 5);
        assert.equal(health.state, "disabled");
        assert.equal(mayBeUsed(health, Number.MAX_SAFE_INTEGER), false);
      }),
    );
  });

  test("rests double from 30 seconds up to an hour, and one good use ends the row", () => {
    let [health, now] = [FRESH, 0];
    const rests: number[] = [];
    for (let times = 0; times < 9; times += 1) {
      health = afterUse(health, FAULT, now);
      rests.push(health.restUntil - now);
      assert.equal(mayBeUsed(health, health.restUntil - 1), false);
      now = health.restUntil;
      assert.equal(onProbation(health, now), true);
    }
    assert.deepEqual(
      rests,
      [30, 60, 120, 240, 480, 960, 1920, 3600, 3600].map((seconds) => seconds * 1000),
    );
    health = afterUse(health, good(), now);
    assert.deepEqual([health.state, health.restStep, health.lastError], ["usable", 0, null]);
    assert.equal(afterUse(health, FAULT, now).restUntil, now + restMs(0));
  });

  test("ten uses that fail together when a proxy dies are one failure", () => {
    let health = afterUse(FRESH, good(), 0);
    for (let times = 0; times < 10; times += 1) health = afterUse(health, FAULT, 1_000 + times);
    assert.deepEqual([health.restStep, health.restUntil], [1, 31_000]);
  });

  test("an unsure failure makes it rest only when it had to prove that it is back", () => {
    const usable = afterUse(FRESH, good(), 0);
    assert.equal(afterUse(usable, UNSURE, 1).state, "usable");
    assert.equal(afterUse(FRESH, UNSURE, 1).state, "resting");
    const rested = afterUse(usable, FAULT, 0);
    assert.equal(afterUse(rested, UNSURE, rested.restUntil).restStep, 2);
  });

  test("better and faster ones weigh more", () => {
    const better = afterUse(FRESH, good(), 0);
    assert.ok(weightOf(better) > weightOf(FRESH));
    assert.ok(weightOf(afterUse(FRESH, good(50), 0)) > weightOf(afterUse(FRESH, good(20_000), 0)));
  });
});

describe("what uses show of a proxy at a site", () => {
  const at = (known: SiteRecordOfProxy | null, outcome: "good" | "blocked" | "unsure", times: number, now = 0) => {
    const shown = {
      good: { kind: "good", latencyMs: 1 },
      blocked: { kind: "blocked" },
      unsure: { kind: "unsure", why: "" },
    } as const;
    let record = known;
    for (let n = 0; n < times; n += 1) record = afterUseAtSite(record, shown[outcome], now);
    return record!;
  };

  test("a single block is bad luck, more of them than good answers are not, and good answers bring it back", () => {
    let record = at(null, "blocked", 1);
    assert.equal(avoidedAtSiteUntil(record), 0);
    record = at(record, "blocked", 1);
    assert.ok(avoidedAtSiteUntil(record) > 0);
    assert.equal(avoidedAtSiteUntil(at(record, "good", 5)), 0);
  });

  test("what was long ago counts less: no history keeps a proxy away from a site that takes it again", () => {
    const record = at(null, "blocked", 10_000);
    assert.equal(avoidedAtSiteUntil(at(record, "good", 100)), 0);
  });

  test("a site that is left alone is tried again within an hour, and what was seen there before then hardly counts", () => {
    const record = at(null, "unsure", 10_000);
    const until = avoidedAtSiteUntil(record);
    assert.ok(until > 600_000 && until <= 3_600_000);
    const again = until + 3_600_000;
    assert.ok(avoidedAtSiteUntil(at(record, "unsure", 1, again)) < again + 60_000);
    assert.ok(avoidedAtSiteUntil(at(record, "unsure", 1, until - 600_000)) > until - 300_000);
    assert.deepEqual(at(record, "good", 1, -5), { ...at(record, "good", 1), at: -5 }, "a clock may be set back");
  });

  test("a refusal or a wall is a block of the address, a missing page or a sign-in is not", () => {
    for (const reason of ["http_forbidden", "challenge_page", "captcha_page"] as const)
      assert.equal(isBlockOfAddress(failure(reason, "")), true);
    for (const reason of ["http_not_found", "http_unauthorized", "empty_shell", "login_page"] as const)
      assert.equal(isBlockOfAddress(failure(reason, "")), false);
  });
});

const pool = fc.array(fc.double({ min: 0.02, max: 1, noNaN: true }), { minLength: 1, maxLength: 12 });

/** With this many seats taken. */
function rotationOf(policy: ProxyRotation, seats: number, name = (seat: number) => `p${seat}`) {
  const rotation = createRotation(policy);
  for (let seat = 0; seat < seats; seat += 1) rotation.seat(seat, name(seat));
  return rotation;
}

const times = (n: number, pick: () => number): number[] => {
  const counts: number[] = [];
  for (let turn = 0; turn < n; turn += 1) {
    const seat = pick();
    counts[seat] = (counts[seat] ?? 0) + 1;
  }
  return counts;
};

describe("rotation", () => {
  test("every policy takes one of those that are there, also when they come and go", () => {
    const share = fc.oneof(fc.constant(0), fc.double({ min: 0.02, max: 1, noNaN: true }));
    const some = fc.array(share, { minLength: 12, maxLength: 12 }).filter((shares) => shares.some((one) => one > 0));
    fc.assert(
      fc.property(fc.constantFrom(...PROXY_ROTATIONS), fc.array(some, { maxLength: 20 }), (policy, list) => {
        const rotation = rotationOf(policy, 12);
        for (const [turn, shares] of list.entries()) {
          if (turn % 5 === 3) rotation.seat(turn % 12, `new-${turn}`);
          if (turn % 5 === 4) rotation.returned(turn % 12);
          assert.ok(shares[rotation.next(shares, "session site")]! > 0);
        }
      }),
    );
  });

  test("in turn and by least use, each gets the share that its weight says", () => {
    fc.assert(
      fc.property(fc.constantFrom("round_robin" as const, "least_used" as const), pool, (policy, shares) => {
        const rotation = rotationOf(policy, shares.length);
        const total = shares.reduce((sum, share) => sum + share, 0);
        const counts = times(2_000, () => rotation.next(shares, ""));
        for (const [seat, share] of shares.entries())
          assert.ok(Math.abs((counts[seat] ?? 0) - (2_000 * share) / total) <= shares.length + 1);
      }),
      { numRuns: 30 },
    );
  });

  test("equals take turns", () => {
    for (const policy of ["round_robin", "least_used"] as const) {
      const rotation = rotationOf(policy, 3);
      const picks = Array.from({ length: 9 }, () => rotation.next([0.3, 0.3, 0.3], ""));
      for (let n = 0; n < 9; n += 3) assert.equal(new Set(picks.slice(n, n + 3)).size, 3);
    }
  });

  test("by least use, who comes later does not get all the traffic until it has caught up", () => {
    const rotation = rotationOf("least_used", 1);
    times(1_000, () => rotation.next([1], ""));
    rotation.seat(1, "new");
    assert.deepEqual(
      times(10, () => rotation.next([1, 1], "")),
      [5, 5],
    );
    times(1_000, () => rotation.next([1, 0], ""));
    rotation.returned(1);
    assert.deepEqual(
      times(10, () => rotation.next([1, 1], "")),
      [5, 5],
    );
  });

  test("by least use, a site that takes only one of them does not make that one get all of another site, too", () => {
    const rotation = rotationOf("least_used", 4);
    const counts = times(400, () => {
      rotation.next([1, 0, 0, 0], "");
      return rotation.next([1, 1, 1, 1], "");
    });
    assert.ok([1, 2, 3].every((seat) => counts[seat]! > 100));
  });

  test("a session keeps its proxy at a site as long as it is there, and another process chooses the same", () => {
    fc.assert(
      fc.property(pool, fc.string(), (shares, key) => {
        const rotation = rotationOf("sticky", shares.length);
        const first = rotation.next(shares, key);
        // It is still the same when others have become better.
        const changed = shares.map((share, seat) => (seat === first ? share : 1));
        for (let n = 0; n < 5; n += 1) assert.equal(rotation.next(changed, key), first);
        const last = shares.length - 1;
        const other = rotationOf("sticky", shares.length, (seat) => `p${last - seat}`);
        assert.equal(other.next(shares.toReversed(), key), last - first, "whatever its seat is there");
        const others = shares.map((share, seat) => (seat === first ? 0 : share));
        if (last > 0) assert.notEqual(rotation.next(others, key), first);
        // Whoever comes to a seat later is somebody else.
        rotation.next(changed, key);
        rotation.seat(first, "somebody else");
        assert.ok(rotation.next(shares, key) >= 0);
      }),
    );
  });

  test("sessions spread over the proxies", () => {
    const rotation = rotationOf("sticky", 10, (seat) => `proxy-${seat}`);
    let run = 0;
    const counts = times(1_000, () => rotation.next(Array(10).fill(1), `run-${(run += 1)} shop.example`));
    assert.ok(counts.length === 10 && counts.every((count) => count > 50 && count < 200), String(counts));
  });
});
