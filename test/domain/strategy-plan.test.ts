import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { FAILURE_REASONS, failure, type FailureReason } from "../../src/domain/failure.ts";
import { LEARNED_FOR_MS, learnBrowser } from "../../src/domain/learned.ts";
import { STRATEGIES } from "../../src/domain/recipe.ts";
import type { LearnedStrategy } from "../../src/domain/run-facts.ts";
import { escalationOf, type PageMemory, planStrategy, type Way } from "../../src/domain/strategy-plan.ts";

const NOW = Date.UTC(2026, 2, 1);
const URL_A = "https://shop.example/a";
const KNOWN = learnBrowser(null, URL_A, "the page is empty until scripts fill #root", NOW);
const PLAIN = { strategy: "auto", requires_auth: false } as const;

test("nothing is known: a plain request is the probe", () => {
  const plan = planStrategy(PLAIN, null, null, URL_A, NOW);
  assert.deepEqual([plan.way, plan.probe, plan.evidence.rule], ["http", true, "probe"]);
});

test("what is known decides without a probe, says why and until when, and only so long", () => {
  const plan = planStrategy(PLAIN, null, KNOWN, URL_A, NOW + LEARNED_FOR_MS - 1);
  assert.deepEqual([plan.way, plan.probe, plan.evidence.rule], ["browser", false, "learned"]);
  assert.match(plan.evidence.because, /this page .*scripts fill #root/);
  assert.equal(plan.evidence.expires_at, KNOWN.expires_at);
  assert.equal(planStrategy(PLAIN, null, KNOWN, URL_A, NOW + LEARNED_FOR_MS).way, "http");
  assert.equal(planStrategy(PLAIN, null, KNOWN, "https://shop.example/b", NOW).way, "http", "of another page");
});

test("an explicit strategy wins over what is known, a sign-in over both", () => {
  for (const strategy of ["http", "browser", "api_replay"] as const) {
    const plan = planStrategy({ strategy, requires_auth: false }, null, KNOWN, URL_A, NOW);
    assert.deepEqual([plan.way, plan.probe, plan.evidence.rule], [strategy, false, "explicit"]);
    const signIn = planStrategy({ strategy, requires_auth: true }, null, KNOWN, URL_A, NOW);
    assert.deepEqual([signIn.way, signIn.probe, signIn.evidence.rule], ["browser", false, "requires_auth"]);
  }
});

const way = fc.constantFrom<Way>("http", "browser", "api_replay");
const ordinary = { noNullPrototype: true };
const memory: fc.Arbitrary<PageMemory> = fc.record(
  {
    way,
    evidence: fc.record({ rule: fc.constantFrom("probe", "escalated", "learned"), because: fc.string() }, ordinary),
  },
  ordinary,
);
const learned: fc.Arbitrary<LearnedStrategy> = fc.record(
  {
    strategy: fc.constantFrom("browser", "http"),
    reason: fc.string(),
    scope: fc.constantFrom("page", "site"),
    pages: fc.constant(KNOWN.pages),
    mixed: fc.boolean(),
    learned_at: fc.constant(KNOWN.learned_at),
    expires_at: fc.integer({ min: -LEARNED_FOR_MS, max: LEARNED_FOR_MS }).map((ms) => new Date(NOW + ms).toISOString()),
  },
  ordinary,
);
const recipe = fc.record({ strategy: fc.constantFrom(...STRATEGIES), requires_auth: fc.boolean() }, ordinary);

test("the same question has the same answer, and asking changes nothing that was given", () => {
  fc.assert(
    fc.property(recipe, fc.option(memory), fc.option(learned), fc.webUrl(), (asked, kept, site, url) => {
      const before = structuredClone([asked, kept, site]);
      const first = planStrategy(asked, kept, site, url, NOW);
      assert.deepEqual(planStrategy(asked, kept, site, url, NOW), first);
      assert.deepEqual([asked, kept, site], before);
    }),
  );
});

test("whatever a run has climbed to it keeps, with its evidence and without a probe", () => {
  fc.assert(
    fc.property(recipe, memory, fc.option(learned), (asked, kept, site) => {
      assert.deepEqual(planStrategy(asked, kept, site, URL_A, NOW), { ...kept, probe: false });
    }),
  );
});

test("only auto probes, and only when nothing else decides", () => {
  fc.assert(
    fc.property(recipe, fc.option(learned), (asked, site) => {
      const { probe, way: chosen } = planStrategy(asked, null, site, URL_A, NOW);
      const known = site !== null && site.strategy === "browser" && Date.parse(site.expires_at) > NOW;
      assert.equal(probe, asked.strategy === "auto" && !asked.requires_auth && !known);
      if (probe) assert.equal(chosen, "http");
    }),
  );
});

test("a run climbs after a block alone, and from a browser nowhere", () => {
  for (const reason of Object.keys(FAILURE_REASONS) as FailureReason[]) {
    const what = failure(reason, "it happened");
    const climbs = FAILURE_REASONS[reason] === "blocked" && reason !== "human_skipped";
    for (const from of ["http", "api_replay"] as const)
      assert.equal(escalationOf(from, what), climbs ? "browser" : null, `${from} after ${reason}`);
    assert.equal(escalationOf("browser", what), null);
  }
});
