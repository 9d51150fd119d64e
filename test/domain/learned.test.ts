import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../support/properties.ts";
import { isKnown, LEARNED_FOR_MS, learnBrowser, learnPlain } from "../../src/domain/page/learned.ts";
import type { LearnedStrategy } from "../../src/domain/run/run-facts.ts";

const NOW = Date.UTC(2026, 2, 1);
const page = (n: number) => `https://shop.example/p${n}`;
const learnAll = (pages: readonly number[], before: LearnedStrategy | null = null) =>
  pages.reduce((known, n) => learnBrowser(known, page(n), `page ${n} was empty`, NOW), before);

test("one page that needed a browser is known, and no other", () => {
  const known = learnBrowser(null, page(1), "it was empty", NOW);
  assert.deepEqual(
    [known.strategy, known.scope, known.reason, known.mixed],
    ["browser", "page", "it was empty", false],
  );
  assert.ok(isKnown(known, page(1), NOW));
  assert.ok(isKnown(known, `${page(1)}#top`, NOW), "a fragment is no other page");
  assert.ok(!isKnown(known, page(2), NOW));
});

test("the third page makes it a matter of the site; the same page three times does not", () => {
  assert.equal(learnAll([1, 2])?.scope, "page");
  assert.equal(learnAll([1, 1, 1, 1])?.scope, "page");
  const known = learnAll([1, 2, 3]) as LearnedStrategy;
  assert.equal(known.scope, "site");
  assert.ok(isKnown(known, page(99), NOW));
});

test("a site of which a plain page was got is mixed: each page is for itself, however many there are", () => {
  const mixed = learnPlain(learnAll([1]), NOW);
  assert.equal(mixed?.mixed, true);
  const known = learnAll([2, 3, 4, 5], mixed) as LearnedStrategy;
  assert.equal(known.scope, "page");
  assert.ok(isKnown(known, page(5), NOW));
  assert.ok(!isKnown(known, page(6), NOW));
});

test("a site of which a plain page was got first is mixed, too; more plain pages are no news", () => {
  const plain = learnPlain(null, NOW) as LearnedStrategy;
  assert.deepEqual([plain.strategy, plain.mixed, plain.pages], ["http", true, []]);
  assert.ok(!isKnown(plain, page(1), NOW));
  assert.equal(learnPlain(plain, NOW), null);
  assert.equal(learnAll([1, 2, 3, 4], plain)?.scope, "page");
  const known = learnAll([1]) as LearnedStrategy;
  assert.equal(learnPlain(learnPlain(known, NOW), NOW), null);
  assert.equal(learnPlain(known, NOW + LEARNED_FOR_MS)?.strategy, "http", "what is too old begins anew");
});

test("what is too old is forgotten, not built upon", () => {
  const old = learnAll([1, 2, 3]) as LearnedStrategy;
  assert.ok(isKnown(old, page(9), NOW + LEARNED_FOR_MS - 1));
  assert.ok(!isKnown(old, page(1), NOW + LEARNED_FOR_MS));
  const fresh = learnBrowser(old, page(4), "it was empty", NOW + LEARNED_FOR_MS);
  assert.deepEqual([fresh.scope, fresh.pages.length], ["page", 1]);
});

type Step = { kind: "browser" | "plain"; page: number; waitMs: number };
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    kind: fc.constantFrom("browser", "plain"),
    page: fc.nat(120),
    waitMs: fc.oneof(fc.nat(1000), fc.integer({ min: LEARNED_FOR_MS / 2, max: LEARNED_FOR_MS * 2 })),
  }),
  { maxLength: 150 },
);

test("whatever happens: the newest page is known for a day, the list stays short, and nothing handed in changes", () => {
  fc.assert(
    fc.property(steps, (all) => {
      let known = null as LearnedStrategy | null;
      let now = NOW;
      for (const { kind, page: n, waitMs } of all) {
        now += waitMs;
        const before = structuredClone(known);
        const next: LearnedStrategy | null =
          kind === "browser" ? learnBrowser(known, page(n), "why", now) : (learnPlain(known, now) ?? known);
        assert.deepEqual(known, before, "the old is left as it was");
        if (kind === "browser" && next !== null) {
          assert.ok(isKnown(next, page(n), now + LEARNED_FOR_MS - 1) && !isKnown(next, page(n), now + LEARNED_FOR_MS));
          assert.ok(next.pages.length <= 50);
          assert.equal(new Set(next.pages).size, next.pages.length, "each page once");
        }
        if (kind === "plain") assert.equal(next?.mixed, true);
        known = next;
      }
    }),
  );
});
