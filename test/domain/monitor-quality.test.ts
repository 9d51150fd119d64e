import assert from "node:assert/strict";
import { test } from "node:test";
import { PageComparer } from "../../src/domain/monitor/compare.ts";
import { MONITOR_DEFAULTS } from "../../src/domain/monitor/options.ts";
import { NO_PROFILE } from "../../src/domain/monitor/volatile.ts";
import { testSeed } from "../support/seed.ts";
import { makeSitePage, placeNoise, SITE_CHANGES, siteFetch } from "./monitor-sites.ts";
import { chance, CHANGES, contentOf, fetchOf, PAGES, pick, planNoise, type What } from "./monitor-pairs.ts";

const PAIRS = 200;
/** The dates of these pages are of any year. */
const TIMES = { beforeAt: null, afterAt: null };

const comparer = (what: What) => new PageComparer({ ...MONITOR_DEFAULTS, what });

test("pages that differ in noise alone are the same page, at most 2 % are called changed [slow]", () => {
  const random = chance(testSeed());
  const wrong: string[] = [];
  for (let pair = 0; pair < PAIRS; pair += 1) {
    const page = pick(random, PAGES);
    const what = pick(random, ["text", "markdown", "links"] as const);
    const noise = planNoise(random, page);
    const fetched = () => contentOf(fetchOf(page, noise, random), what);
    const { isChanged, diff } = comparer(what).compare({
      before: fetched(),
      after: fetched(),
      again: fetched(),
      profile: NO_PROFILE,
      ...TIMES,
    });
    if (isChanged) wrong.push(`${what} ${noise.kinds.join(",")}\n${diff.unified}`);
  }
  assert.ok(wrong.length <= PAIRS * 0.02, `${wrong.length} of ${PAIRS} are called changed:\n${wrong.join("\n")}`);
});

test("a small real change is found beside noise, at least 99 % of them [slow]", () => {
  const random = chance(testSeed() + 1);
  const missed: string[] = [];
  const counts: Record<string, number> = {};
  for (let pair = 0; pair < PAIRS;) {
    const page = pick(random, PAGES);
    const [name, change] = pick(random, Object.entries(CHANGES));
    const what = pick(random, change.what);
    const changed = change.make(page, random);
    // What a reader of the page cannot see is no change of it.
    if (changed === null || contentOf(changed, what).equals(contentOf(page, what))) continue;
    pair += 1;
    counts[name] = (counts[name] ?? 0) + 1;
    const noise = planNoise(random, page);
    // The noise stays where it is: places are counted from the end where the change is before them.
    const [first, later] = [page, changed].map(
      (text) => (at: number) => (text === page ? at : moved(page, changed, at)),
    );
    const place = (shift: (at: number) => number) => ({ ...noise, places: noise.places.map(shift) });
    const before = contentOf(fetchOf(page, place(first!), random), what);
    const after = () => contentOf(fetchOf(changed, place(later!), random), what);
    const { isChanged } = comparer(what).compare({
      before,
      after: after(),
      again: after(),
      profile: NO_PROFILE,
      ...TIMES,
    });
    if (!isChanged) missed.push(`${name} in ${what}, noise ${noise.kinds.join(",")}`);
  }
  assert.ok(missed.length <= PAIRS * 0.01, `${missed.length} of ${PAIRS} are missed: ${missed.join("; ")}`);
  assert.ok(Object.keys(counts).length >= Object.keys(CHANGES).length - 1, "nearly every kind occurs");
});

/** Where a place of the page is after the change. */
function moved(page: string, changed: string, at: number): number {
  let start = 0;
  while (page[start] === changed[start]) start += 1;
  if (at <= start) return at;
  const later = at + changed.length - page.length;
  return Math.max(start, Math.min(later, changed.length));
}

test("a small real change is found on pages of other kinds, also the date of an event, at least 98 % of them [slow]", () => {
  const random = chance(testSeed() + 2);
  const missed: string[] = [];
  for (let pair = 0; pair < PAIRS;) {
    const at = Date.UTC(2026, Math.floor(random() * 12), 1 + Math.floor(random() * 28), Math.floor(random() * 24));
    const later = at + Math.round((1 + random() * 72) * 3_600_000);
    const page = makeSitePage(random, at);
    const [name, change] = pick(random, Object.entries(SITE_CHANGES));
    const what = pick(random, change.what);
    const blocks = change.make(page, random, at);
    if (blocks === null) continue;
    const changed = { ...page, blocks };
    const bare = (one: typeof page) => contentOf(siteFetch(one, [], { at, random: chance(1) }), what);
    if (bare(page).equals(bare(changed))) continue;
    pair += 1;
    const placed = placeNoise(random, page);
    const fetched = (one: typeof page, when: number) => contentOf(siteFetch(one, placed, { at: when, random }), what);
    const { isChanged } = comparer(what).compare({
      before: fetched(page, at),
      after: fetched(changed, later),
      again: fetched(changed, later + 1500),
      profile: NO_PROFILE,
      beforeAt: at,
      afterAt: later,
    });
    if (!isChanged) missed.push(`${name} in ${what}: ${placed.map(({ noise }) => noise).join(", ")}`);
  }
  assert.ok(missed.length <= PAIRS * 0.02, `${missed.length} of ${PAIRS} are missed: ${missed.join("; ")}`);
});
