/** Runs a monitor over generated pages: how often noise is called a change, and a change is missed. */
import { PageComparer } from "../../src/domain/monitor/compare.ts";
import { decodeContent } from "../../src/domain/monitor/content.ts";
import { MONITOR_DEFAULTS } from "../../src/domain/monitor/options.ts";
import { NO_PROFILE, type VolatileProfile } from "../../src/domain/monitor/volatile/profile.ts";
import { isSameButNoise } from "../../src/domain/monitor/text-diff.ts";
import { nextFetchMs } from "../../src/domain/monitor/volatile/refetch.ts";
import {
  type ChangeFamily,
  type Fetch,
  fetchOf,
  moved,
  type NoiseFamily,
  PAGES,
  placeNoise,
  type Placed,
} from "./monitor-families.ts";
import { type Chance, contentOf, pick, type What } from "./monitor-pairs.ts";

const DAY_MS = 86_400_000;
/** Of the first run is a day later. */
export const START = Date.UTC(2026, 4, 5, 9);

/** A page of a site, as the runs of a monitor see it. */
export class MonitoredSite {
  readonly #comparer: PageComparer;
  readonly #what: What;
  readonly #random: Chance;
  #at = START;
  #profile: VolatileProfile = NO_PROFILE;
  #before: { content: Buffer; at: number } | null = null;
  /** Of all runs. */
  fetches = 0;

  constructor(what: What, random: Chance) {
    this.#what = what;
    this.#random = random;
    this.#comparer = new PageComparer({ ...MONITOR_DEFAULTS, what });
  }

  /** One run, as the worker does it; null: it found no change, or the difference otherwise. */
  run(page: string, placed: Placed): string | null {
    this.#at += DAY_MS;
    const at = this.#at;
    let later = 0;
    const fetch = () => {
      this.fetches += 1;
      const when: Fetch = { at: at + later, random: this.#random };
      return contentOf(fetchOf(page, placed, when), this.#what);
    };
    const after = fetch();
    if (this.#before === null) {
      this.#before = { content: after, at };
      return null;
    }
    const before = this.#before;
    const again: Buffer[] = [];
    const compare = () =>
      this.#comparer.compare({
        before: before.content,
        after,
        again,
        profile: this.#profile,
        beforeAt: before.at,
        afterAt: at,
      });
    const known = this.#profile;
    const digestOf = (content: Buffer) => this.#comparer.digestOf(content, known, at);
    let found = compare();
    for (let isDiffering = false; ;) {
      const waitMs = nextFetchMs({ count: again.length, isDiffering, isShort: false }, found);
      if (waitMs === null) break;
      later += waitMs;
      again.push(fetch());
      isDiffering ||= !isSameButNoise(digestOf(again.at(-1)!), digestOf(after));
      found = compare();
    }
    this.#profile = found.profile;
    if (!found.isChanged) return null;
    this.#before = { content: after, at };
    return found.diff.unified;
  }
}

export interface Score {
  pairs: number;
  wrong: string[];
  fetches: number;
}

type Families<T> = Readonly<Record<string, T>>;
const WHATS = ["text", "markdown", "links"] as const;

/** Pages that differ in noise alone. `only`: with this kind of noise, besides others. `runs`: the last one is looked at. */
export function noisePairs(
  random: Chance,
  families: Families<NoiseFamily>,
  { pairs, runs = 2, what }: { pairs: number; runs?: number; what?: What },
): Score {
  const score: Score = { pairs, wrong: [], fetches: 0 };
  for (let pair = 0; pair < pairs; pair += 1) {
    const page = pick(random, PAGES);
    const placed = placeNoise(families, page, random);
    const site = new MonitoredSite(what ?? pick(random, WHATS), random);
    let found: string | null = null;
    for (let run = 0; run < runs; run += 1) {
      const before = site.fetches;
      found = site.run(page, placed);
      if (run === runs - 1) score.fetches += site.fetches - before;
    }
    if (found !== null) score.wrong.push(`${placed.map(({ family }) => family).join(", ")}\n${found}`);
  }
  return score;
}

/** A page before and after one small change. */
export interface Changed {
  name: string;
  what: What;
  page: string;
  changed: string;
}

/** One of the pages with one of the changes; null: the page has nothing of the kind. */
export const changedPage =
  (changes: Families<ChangeFamily>) =>
  (random: Chance): Changed | null => {
    const page = pick(random, PAGES);
    const [name, change] = pick(random, Object.entries(changes));
    const what = pick(random, change.what);
    const changed = change.make(page, random);
    return changed === null ? null : { name, what, page, changed };
  };

function shownOf(page: string, what: What): string {
  const { text } = decodeContent(contentOf(page, what));
  return what === "links" ? [...new Set(text.split("\n"))].toSorted().join("\n") : text;
}

/** Pages with one small change, beside noise. */
export function changePairs(
  random: Chance,
  noise: Families<NoiseFamily>,
  draw: (random: Chance) => Changed | null,
  { pairs, runs = 2 }: { pairs: number; runs?: number },
): Score & { kinds: Record<string, number> } {
  const score = { pairs, wrong: [] as string[], fetches: 0, kinds: {} as Record<string, number> };
  for (let pair = 0; pair < pairs;) {
    const drawn = draw(random);
    // What a reader of the page cannot see is no change of it.
    if (drawn === null) continue;
    const { name, what, page, changed } = drawn;
    if (shownOf(changed, what) === shownOf(page, what)) continue;
    pair += 1;
    score.kinds[name] = (score.kinds[name] ?? 0) + 1;
    const placed = placeNoise(noise, page, random);
    const site = new MonitoredSite(what, random);
    for (let run = 1; run < runs; run += 1) site.run(page, placed);
    const before = site.fetches;
    if (site.run(changed, moved(placed, page, changed)) === null)
      score.wrong.push(`${name} in ${what}: ${placed.map(({ family }) => family).join(", ")}`);
    score.fetches += site.fetches - before;
  }
  return score;
}
