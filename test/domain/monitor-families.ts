/** Kinds of noise and of real changes on the pages of the demo and of the test suite: those that the rules were tuned on. */
import { type Chance, chance, CHANGES, NOISE, PAGES, pick, type What } from "./monitor-pairs.ts";
import { makeSitePage, SITE_CHANGES, SITE_NOISE, siteHtml } from "./monitor-sites.ts";

/** When and by whom a page is fetched. */
export interface Fetch {
  /** Milliseconds since 1970. */
  at: number;
  random: Chance;
}

/** `page` decides what is fixed for a page, such as the pool that its fetches draw from. */
export type NoiseFamily = (page: Chance) => (fetch: Fetch) => string;

export interface ChangeFamily {
  what: readonly What[];
  /** Null: the page has nothing of the kind. */
  make(page: string, random: Chance): string | null;
}

export const whole = (random: Chance, most: number) => Math.floor(random() * most);
export const between = (random: Chance, least: number, most: number) => least + whole(random, most - least + 1);
export const hex = (random: Chance, length: number) =>
  Array.from({ length }, () => whole(random, 16).toString(16)).join("");
export function shuffled<T>(random: Chance, list: readonly T[]): T[] {
  const left = [...list];
  return list.map(() => left.splice(whole(random, left.length), 1)[0]!);
}
export const some = <T>(random: Chance, list: readonly T[], count: number): T[] =>
  shuffled(random, list).slice(0, count);

/** Replaces one match of the pattern behind the start of the body; null: there is none. */
export function replaceOne(
  page: string,
  random: Chance,
  pattern: RegExp,
  by: (found: RegExpMatchArray, random: Chance) => string,
): string | null {
  const body = Math.max(0, page.search(/<body|<h1|<p/i));
  const all = [...page.matchAll(pattern)].filter(({ index }) => index >= body);
  if (all.length === 0) return null;
  const found = pick(random, all);
  return page.slice(0, found.index) + by(found, random) + page.slice(found.index + found[0].length);
}

export const NOISE_FAMILIES: Readonly<Record<string, NoiseFamily>> = {
  ...Object.fromEntries(
    NOISE.map((make, index) => [
      `pairs ${index}`,
      () =>
        ({ random }: Fetch) =>
          make(random),
    ]),
  ),
  ...Object.fromEntries(Object.entries(SITE_NOISE).map(([name, make]) => [name, () => make])),
};

export const CHANGE_FAMILIES: Readonly<Record<string, ChangeFamily>> = CHANGES;

/** A page of another kind than those of the demo and the test suite, with a change that its readers would want to know. */
export function changedSitePage(random: Chance, at: number) {
  const page = makeSitePage(random, at);
  const [name, change] = pick(random, Object.entries(SITE_CHANGES));
  const what = pick(random, change.what);
  const blocks = change.make(page, random, at);
  const written = (one: typeof page) => siteHtml(one, { at, random: chance(1) });
  return blocks === null ? null : { name, what, page: written(page), changed: written({ ...page, blocks }) };
}

/** Noise at its places in a page. */
export type Placed = readonly { family: string; at: number; show: (fetch: Fetch) => string }[];

/** Some kinds of noise, each at a place of its own. */
export function placeNoise(families: Readonly<Record<string, NoiseFamily>>, page: string, random: Chance): Placed {
  const body = page.search(/<body|<h1|<p/i);
  const starts = [...page.matchAll(BLOCK_START)].map(({ index }) => index).filter((at) => at > body);
  const places = some(random, starts, between(random, 2, 5));
  const names = some(random, Object.keys(families), places.length);
  return names.map((family, index) => ({ family, at: places[index]!, show: families[family]!(random) }));
}

export function fetchOf(page: string, placed: Placed, fetch: Fetch): string {
  const parts = placed.map(({ at, show }) => ({ at, html: show(fetch) })).toSorted((a, b) => b.at - a.at);
  return parts.reduce((text, { at, html }) => text.slice(0, at) + html + text.slice(at), page);
}

/** The same places after a change of the page; those within it are before it. */
export function moved(placed: Placed, page: string, changed: string): Placed {
  let [start, end] = [0, 0];
  const shorter = Math.min(page.length, changed.length);
  while (start < shorter && page[start] === changed[start]) start += 1;
  while (end < shorter - start && page.at(-1 - end) === changed.at(-1 - end)) end += 1;
  const before = [...changed.slice(0, start + 1).matchAll(BLOCK_START)].at(-1)?.index ?? 0;
  return placed.map((one) => {
    if (one.at <= start) return one;
    if (one.at < page.length - end) return { ...one, at: before };
    return { ...one, at: one.at + changed.length - page.length };
  });
}

const BLOCK_START = /<(?:p|h2|h3|ul|article|footer|table)\b/gi;

export { PAGES };
