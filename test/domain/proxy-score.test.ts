import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { failure } from "../../src/domain/failure.ts";
import { type Candidate, createRotation, PROXY_ROTATIONS } from "../../src/domain/proxy-rotation.ts";
import {
  afterUse,
  afterUseAtSite,
  FIRST_SCORE,
  isAvoidedAtSite,
  isBlockOfAddress,
  mayBeUsed,
  onProbation,
  type ProxyHealth,
  type ProxyOutcome,
  restMs,
  UNKNOWN_AT_SITE,
  weightOf,
} from "../../src/domain/proxy-score.ts";

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
  test("a single block is bad luck, more of them than good answers are not, and good answers bring it back", () => {
    let record = afterUseAtSite(UNKNOWN_AT_SITE, BLOCKED);
    assert.equal(isAvoidedAtSite(record), false);
    record = afterUseAtSite(record, BLOCKED);
    assert.equal(isAvoidedAtSite(record), true);
    for (let times = 0; times < 5; times += 1) record = afterUseAtSite(record, good());
    assert.equal(isAvoidedAtSite(record), false);
  });

  test("what was long ago counts less: no history keeps a proxy away from a site that takes it again", () => {
    let record = UNKNOWN_AT_SITE;
    for (let times = 0; times < 10_000; times += 1) record = afterUseAtSite(record, BLOCKED);
    for (let times = 0; times < 100; times += 1) record = afterUseAtSite(record, good());
    assert.equal(isAvoidedAtSite(record), false);
  });

  test("a refusal or a wall is a block of the address, a missing page or a sign-in is not", () => {
    for (const reason of ["http_forbidden", "challenge_page", "captcha_page"] as const)
      assert.equal(isBlockOfAddress(failure(reason, "")), true);
    for (const reason of ["http_not_found", "http_unauthorized", "empty_shell", "login_page"] as const)
      assert.equal(isBlockOfAddress(failure(reason, "")), false);
  });
});

const pool = fc
  .array(fc.double({ min: 0.02, max: 1, noNaN: true }), { minLength: 1, maxLength: 12 })
  .map((weights) => weights.map((weight, index): Candidate => ({ id: `p${index}`, weight })));

describe("rotation", () => {
  test("every policy takes one of those that are there, also when they come and go", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...PROXY_ROTATIONS),
        fc.array(pool, { minLength: 1, maxLength: 20 }),
        (policy, pools) => {
          const rotation = createRotation(policy);
          for (const candidates of pools) assert.ok(candidates.includes(rotation.next(candidates, "session site")));
        },
      ),
    );
  });

  test("in turn and by least use, each gets the share that its weight says", () => {
    fc.assert(
      fc.property(fc.constantFrom("round_robin" as const, "least_used" as const), pool, (policy, candidates) => {
        const rotation = createRotation(policy);
        const total = candidates.reduce((sum, { weight }) => sum + weight, 0);
        const picks = 2_000;
        const counts = new Map<string, number>();
        for (let n = 0; n < picks; n += 1) {
          const { id } = rotation.next(candidates, "");
          counts.set(id, (counts.get(id) ?? 0) + 1);
        }
        for (const { id, weight } of candidates)
          assert.ok(Math.abs((counts.get(id) ?? 0) - (picks * weight) / total) <= candidates.length + 1);
      }),
      { numRuns: 30 },
    );
  });

  test("equals take turns", () => {
    const rotation = createRotation("round_robin");
    const three = ["a", "b", "c"].map((id) => ({ id, weight: 0.3 }));
    const picks = Array.from({ length: 9 }, () => rotation.next(three, "").id);
    for (let n = 0; n < 9; n += 3) assert.equal(new Set(picks.slice(n, n + 3)).size, 3);
  });

  test("who comes later does not get all the traffic until it has caught up", () => {
    const rotation = createRotation("least_used");
    const [a, b] = ["a", "b"].map((id) => ({ id, weight: 1 })) as [Candidate, Candidate];
    for (let n = 0; n < 1_000; n += 1) rotation.next([a], "");
    const later = Array.from({ length: 10 }, () => rotation.next([a, b], "").id);
    assert.equal(later.filter((id) => id === "b").length, 5);
  });

  test("a session keeps its proxy at a site as long as it is there, and another process chooses the same", () => {
    fc.assert(
      fc.property(pool, fc.string(), (candidates, key) => {
        const rotation = createRotation("sticky");
        const first = rotation.next(candidates, key);
        for (let n = 0; n < 5; n += 1) assert.equal(rotation.next(candidates.toReversed(), key), first);
        // It is still the same when others have become better.
        const changed = candidates.map((one) => (one === first ? first : { ...one, weight: 1 }));
        assert.equal(rotation.next(changed, key), first);
        assert.equal(createRotation("sticky").next(candidates, key), first);
        const others = candidates.filter((one) => one !== first);
        if (others.length > 0) assert.notEqual(rotation.next(others, key), first);
      }),
    );
  });

  test("sessions spread over the proxies", () => {
    const rotation = createRotation("sticky");
    const candidates = Array.from({ length: 10 }, (_, n) => ({ id: `proxy-${n}`, weight: 1 }));
    const used = new Map<string, number>();
    for (let n = 0; n < 1_000; n += 1) {
      const { id } = rotation.next(candidates, `run-${n} shop.example`);
      used.set(id, (used.get(id) ?? 0) + 1);
    }
    assert.equal(used.size, 10);
    assert.ok([...used.values()].every((count) => count > 50 && count < 200));
  });
});
