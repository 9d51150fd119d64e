import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../support/properties.ts";
import { type Random, seededRandom } from "../../src/base/random.ts";
import { dispositionOf } from "../../src/domain/run/classify.ts";
import { FAILURE_REASONS, failure, type Failure, type FailureReason } from "../../src/domain/run/failure.ts";
import { type Handled, verdictOf } from "../../src/domain/run/outcome.ts";

const RULES = {
  backoff: { baseMs: 10_000, maxMs: 300_000 },
  maxAttempts: 3,
  retryAfterMaxMs: 3_600_000,
  rateLimitMaxWaits: 5,
};
const NOW = 1_000_000;
const NEW = { tries: 0, waits: 0, redirects: [] };
const noChance: Random = { next: () => 0, uuid: () => "" };

function verdict(what: Failure, tries = 1, waits = 0) {
  return verdictOf({ kind: "failed", failure: what }, { ...NEW, tries: tries - 1, waits }, RULES, noChance, NOW);
}

test("what did not fail stays what it is", () => {
  const past = { tries: 8, waits: 9, redirects: ["https://a.example/"] };
  const say = (handled: Handled) => verdictOf({ ...handled, report: { strategy: "http" } }, past, RULES, noChance, NOW);
  const completed = { kind: "completed", artifacts: [], results: [{ n: 1 }], detail: { bytes: 1 } } as const;
  assert.deepEqual(say({ ...completed, httpStatus: 200 }), completed);
  assert.deepEqual(say({ kind: "skipped", why: "unchanged" }), { kind: "skipped", why: "unchanged" });
  assert.deepEqual(say({ kind: "handed_back", why: "stopping" }), { kind: "handed_back" });
  assert.deepEqual(say({ kind: "handed_back", why: "busy", waitMs: 5 }), { kind: "handed_back", readyAt: NOW + 5 });
  assert.deepEqual(say({ kind: "moved", url: "https://b.example/", redirects: ["https://a.example/b"] }), {
    kind: "moved",
    url: "https://b.example/",
    site: "b.example",
    lane: "site:b.example",
    redirects: ["https://a.example/", "https://a.example/b"],
  });
});

test("a passing trouble is retried after 10, 30 … seconds until the attempts are used up", () => {
  const reset = failure("connection_reset", "the connection broke");
  assert.deepEqual(verdict(reset, 1), { kind: "retry", failure: reset, readyAt: NOW + 10_000 });
  assert.deepEqual(verdict(reset, 2), { kind: "retry", failure: reset, readyAt: NOW + 30_000 });
  assert.deepEqual(verdict(reset, 3), { kind: "failed", failure: reset });
  assert.deepEqual(verdict(reset, 4), { kind: "failed", failure: reset });
});

test("a 404 fails at once, whatever it says about coming back", () => {
  const gone = failure("http_not_found", "gone", { httpStatus: 404 });
  assert.deepEqual(verdict(gone), { kind: "failed", failure: gone });
  const wordy = { ...gone, retryAfterMs: 7_200_000 };
  assert.deepEqual(verdict(wordy), { kind: "failed", failure: wordy });
});

test("a rate limit waits without spending attempts, up to its ceiling, and then fails as rate_limited", () => {
  const limited = failure("http_too_many_requests", "slow down", { httpStatus: 429, retryAfterMs: 1000 });
  for (const tries of [1, 3, 50]) assert.deepEqual(verdict(limited, tries, 4), { kind: "rate_wait", failure: limited });
  const end = verdict(limited, 1, 5);
  assert.deepEqual(end, { kind: "failed", failure: limited });
  assert.equal(limited.code, "rate_limited");
});

test("Retry-After is honoured when it is longer, up to the limit; beyond it the page fails as rate_limited", () => {
  const error = (retryAfterMs: number) => failure("http_server_error", "down", { httpStatus: 500, retryAfterMs });
  assert.deepEqual(verdict(error(3000)), { kind: "retry", failure: error(3000), readyAt: NOW + 10_000 });
  assert.deepEqual(verdict(error(3_600_000)), { kind: "retry", failure: error(3_600_000), readyAt: NOW + 3_600_000 });
  for (const what of [error(3_600_001), failure("http_too_many_requests", "", { retryAfterMs: 3_600_001 })]) {
    const end = verdict(what);
    assert.equal(end.kind, "failed");
    assert.ok("failure" in end);
    assert.deepEqual([end.failure.code, end.failure.reason], ["rate_limited", "retry_after_too_long"]);
    assert.match(end.failure.message, /3600 s/);
  }
});

test("every failure comes to an end: attempts and waits are bounded", () => {
  const reasons = Object.keys(FAILURE_REASONS) as FailureReason[];
  const what = fc
    .record({
      reason: fc.constantFrom(...reasons),
      httpStatus: fc.option(fc.integer({ min: 300, max: 599 }), { nil: undefined }),
      retryAfterMs: fc.option(fc.nat({ max: 10_000_000 }), { nil: undefined }),
    })
    .map(({ reason, ...more }) => failure(reason, "it failed", more));
  fc.assert(
    fc.property(what, fc.integer(), (broken, seed) => {
      const random = seededRandom(seed);
      let tries = 1;
      let waits = 0;
      for (let step = 0; step < 20; step += 1) {
        const next = verdictOf(
          { kind: "failed", failure: broken },
          { ...NEW, tries: tries - 1, waits },
          RULES,
          random,
          NOW,
        );
        if (next.kind === "failed") return;
        assert.notEqual(dispositionOf(broken), "permanent");
        if (next.kind === "retry") {
          const delayMs = next.readyAt - NOW;
          assert.ok(delayMs >= RULES.backoff.baseMs);
          assert.ok(delayMs <= Math.max(RULES.backoff.maxMs * 1.1, RULES.retryAfterMaxMs));
          tries += 1;
        } else waits += 1;
      }
      assert.fail("it never ended");
    }),
  );
});
