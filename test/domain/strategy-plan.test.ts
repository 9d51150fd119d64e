import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../support/properties.ts";
import { FAILURE_REASONS, failure, type FailureReason } from "../../src/domain/run/failure.ts";
import { LEARNED_FOR_MS, learnBrowser } from "../../src/domain/page/learned.ts";
import { plainRecipe, STRATEGIES } from "../../src/domain/run/recipe.ts";
import type { LearnedStrategy } from "../../src/domain/run/run-facts.ts";
import { recipeAt, robotsOverride } from "../../src/domain/site/site-options.ts";
import {
  escalationOf,
  type PageMemory,
  planStrategy,
  type SiteKnowledge,
  type Way,
} from "../../src/domain/page/strategy-plan.ts";

const NOW = Date.UTC(2026, 2, 1);
const URL_A = "https://shop.example/a";
const KNOWN = learnBrowser(null, URL_A, "the page is empty until scripts fill #root", NOW);
const PLAIN = { strategy: "auto", requires_auth: false, replay: null } as const;
const taught = (learned: LearnedStrategy | null) => ({ strategy: null, learned });

test("nothing is known: a plain request is the probe", () => {
  const plan = planStrategy(PLAIN, null, null, URL_A, NOW);
  assert.deepEqual([plan.way, plan.probe, plan.evidence.rule], ["http", true, "probe"]);
});

test("what is known decides without a probe, says why and until when, and only so long", () => {
  const plan = planStrategy(PLAIN, null, taught(KNOWN), URL_A, NOW + LEARNED_FOR_MS - 1);
  assert.deepEqual([plan.way, plan.probe, plan.evidence.rule], ["browser", false, "learned"]);
  assert.match(plan.evidence.because, /this page .*scripts fill #root/);
  assert.equal(plan.evidence.expires_at, KNOWN.expires_at);
  assert.equal(planStrategy(PLAIN, null, taught(KNOWN), URL_A, NOW + LEARNED_FOR_MS).way, "http");
  assert.equal(planStrategy(PLAIN, null, taught(KNOWN), "https://shop.example/b", NOW).way, "http", "of another page");
});

test("an explicit strategy wins over what is known and what the site's setting says, a sign-in over all", () => {
  const site = { strategy: "http", learned: KNOWN } as const;
  for (const strategy of ["http", "browser", "api_replay"] as const) {
    const plan = planStrategy({ strategy, requires_auth: false, replay: null }, null, site, URL_A, NOW);
    assert.deepEqual([plan.way, plan.probe, plan.evidence.rule], [strategy, false, "explicit"]);
    const signIn = planStrategy({ strategy, requires_auth: true, replay: null }, null, site, URL_A, NOW);
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
const site: fc.Arbitrary<SiteKnowledge> = fc.record(
  { strategy: fc.option(fc.constantFrom(...STRATEGIES)), learned: fc.option(learned) },
  ordinary,
);
const recipe = fc.record(
  { strategy: fc.constantFrom(...STRATEGIES), requires_auth: fc.boolean(), replay: fc.constantFrom(null, {}) },
  ordinary,
);

test("the same question has the same answer, and asking changes nothing that was given", () => {
  fc.assert(
    fc.property(recipe, fc.option(memory), fc.option(site), fc.webUrl(), (asked, kept, known, url) => {
      const before = structuredClone([asked, kept, known]);
      const first = planStrategy(asked, kept, known, url, NOW);
      assert.deepEqual(planStrategy(asked, kept, known, url, NOW), first);
      assert.deepEqual([asked, kept, known], before);
    }),
  );
});

test("whatever a run has climbed to it keeps, with its evidence and without a probe", () => {
  fc.assert(
    fc.property(recipe, memory, fc.option(site), (asked, kept, known) => {
      assert.deepEqual(planStrategy(asked, kept, known, URL_A, NOW), { ...kept, probe: false });
    }),
  );
});

test("only auto probes, and only when nothing else decides", () => {
  fc.assert(
    fc.property(recipe, fc.option(learned), (asked, lesson) => {
      const { probe, way: chosen } = planStrategy(asked, null, taught(lesson), URL_A, NOW);
      const known = lesson !== null && lesson.strategy === "browser" && Date.parse(lesson.expires_at) > NOW;
      assert.equal(probe, asked.strategy === "auto" && !asked.requires_auth && !known);
      if (probe) assert.equal(chosen, "http");
    }),
  );
});

test("a site's setting decides for runs that leave the choice to us, if it can be done", () => {
  fc.assert(
    fc.property(recipe, site, (asked, known) => {
      const { probe, way: chosen, evidence } = planStrategy(asked, null, known, URL_A, NOW);
      const wish = known.strategy ?? "auto";
      const canBe = wish !== "auto" && (wish !== "api_replay" || asked.replay !== null);
      const decides = asked.strategy === "auto" && !asked.requires_auth && canBe;
      assert.equal(evidence.rule === "site", decides);
      if (decides) assert.deepEqual([chosen, probe], [wish, false]);
    }),
  );
});

test("a site's settings are those of every recipe that is used there, and what they change of robots.txt is told", () => {
  const asks = plainRecipe("auto", { respect_robots: true });
  const none = { site: "a.example", strategy: null, respectRobots: null };
  assert.deepEqual(recipeAt(asks, none), asks);
  assert.deepEqual(recipeAt(asks, null), asks);
  const other = { ...none, strategy: "browser", respectRobots: false } as const;
  const { strategy, respect_robots } = recipeAt(asks, other);
  assert.deepEqual([strategy, respect_robots], ["browser", false]);
  assert.equal(recipeAt(plainRecipe("http"), other).strategy, "http");
  assert.match(robotsOverride(true, other)!.message, /^robots.txt of a.example is not obeyed/);
  assert.match(robotsOverride(false, { ...none, respectRobots: true })!.message, /^robots.txt of a.example is obeyed/);
  for (const asked of [true, false]) {
    assert.equal(robotsOverride(asked, none), null);
    assert.equal(robotsOverride(asked, { ...none, respectRobots: asked }), null, "both want the same");
  }
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
