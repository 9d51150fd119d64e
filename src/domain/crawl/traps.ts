/**
 * Spider traps: parts of a site that have no end. Some show in one URL (endless depth, repeated segments), others only in
 * how many there are, so pages are counted as they are added to a crawl.
 *
 * A shop with 100,000 pages `/product/{n}` must be crawled to its end, a calendar `/calendar/{n}/{n}` must not. The
 * difference is where the links are found: products are found on other pages (categories, sitemaps), months only on
 * months. So a page costs something only if it is found on a page of its own kind, of the same pattern or of the same
 * family, and each pattern may have 1,000 of those. A page of that kind that leads to new pages of other kinds earns one
 * more for each: a list of 5,000 pages, each found on the one before, goes on as long as it shows new products. What is
 * refused is not remembered: found again on a page of another kind, it is let in.
 */
import { BoundedCounts, type CountPairs } from "../lane/bounded-counts.ts";
import { shapeOf, type UrlShape } from "./url-shape.ts";

export interface TrapLimits {
  urlLength: number;
  pathSegments: number;
  queryParameters: number;
  /** Different combinations of parameters on one path. */
  queriesPerPath: number;
  /** Pages of one pattern that were found on pages of their own kind. */
  ownKindPerPattern: number;
  /** The same where days and months vary, however much such pages lead to: 27 years of days. */
  datedPerPattern: number;
}

export const TRAP_LIMITS: Readonly<TrapLimits> = {
  urlLength: 8192,
  pathSegments: 30,
  queryParameters: 30,
  queriesPerPath: 1_000,
  ownKindPerPattern: 1_000,
  datedPerPattern: 10_000,
};

export type TrapReason = "trap_path" | "trap_query" | "trap_pattern";

/** What the counters hold, as JSON. A state that was written by another version is not read: counting begins anew. */
export interface TrapState {
  readonly version: 1;
  readonly ownKind: CountPairs;
  readonly earned: CountPairs;
  readonly queries: CountPairs;
  readonly shapes: CountPairs;
}

export const NO_TRAPS: TrapState = { version: 1, ownKind: [], earned: [], queries: [], shapes: [] };

/** Names that are counted at once; some megabyte at the very most. */
const ROOM = { ownKind: 2_000, earned: 500, queries: 1_000, shapes: 4_000 } as const;

export class Traps {
  readonly #limits: TrapLimits;
  readonly #ownKind: BoundedCounts;
  readonly #earned: BoundedCounts;
  readonly #queries: BoundedCounts;
  /** Combinations of parameters that were seen, by their patterns. */
  readonly #shapes: BoundedCounts;
  /** The links of a page are asked about one after the other, all from the same page. */
  #lastFrom: { url: URL; shape: UrlShape } | null = null;
  /** What is let in is counted next. */
  #lastPage: { url: URL; shape: UrlShape } | null = null;

  constructor(limits: Readonly<TrapLimits> = TRAP_LIMITS, state: TrapState = NO_TRAPS) {
    const known = state.version === 1 ? state : NO_TRAPS;
    this.#limits = limits;
    this.#ownKind = new BoundedCounts(ROOM.ownKind, known.ownKind);
    this.#earned = new BoundedCounts(ROOM.earned, known.earned);
    this.#queries = new BoundedCounts(ROOM.queries, known.queries);
    this.#shapes = new BoundedCounts(ROOM.shapes, known.shapes);
  }

  /** Whether a page looks like part of a trap; counts nothing. `from`: where it was found, null for a sitemap. */
  check(url: URL, from: URL | null): TrapReason | null {
    const limits = this.#limits;
    if (isPathTrap(url.pathname, limits.pathSegments)) return "trap_path";
    const shape = this.#shapeOfPage(url);
    if (shape.parameters > limits.queryParameters) return "trap_query";
    if (this.#addsQuery(shape) && this.#queries.get(shape.path) >= limits.queriesPerPath) return "trap_query";
    if (!this.#isOfOwnKind(url, shape, from)) return null;
    const allowed = limits.ownKindPerPattern + this.#earned.get(shape.family);
    const most = shape.dated ? Math.min(allowed, limits.datedPerPattern) : allowed;
    return this.#ownKind.get(shape.pattern) >= most ? "trap_pattern" : null;
  }

  /** Called once for each page that is added to the crawl, in the order of adding. */
  count(url: URL, from: URL | null): void {
    const shape = this.#shapeOfPage(url);
    if (this.#addsQuery(shape)) this.#queries.add(shape.path);
    if (shape.parameters > 1) this.#shapes.add(shape.pattern);
    if (from === null) return;
    if (this.#isOfOwnKind(url, shape, from)) this.#ownKind.add(shape.pattern);
    const finder = this.#shapeOfFrom(from);
    // A month leads to its days for ever: where days and months vary, only what lies elsewhere counts.
    const isElsewhere = finder.family !== shape.family;
    const isBelowIt = !shape.dated && wayDown(url, shape, from, finder) === "word";
    // `/login?next=…` is on every page, and a new page for each.
    if (finder.varies && !shape.holdsAddress && (isElsewhere || isBelowIt)) this.#earned.add(finder.family);
  }

  /** A page was worth its fetch for another reason, such as records on it: others of its kind may follow. */
  earn(url: URL, pages = 1): void {
    const { varies, family } = shapeOf(url);
    if (varies) this.#earned.add(family, pages);
  }

  state(): TrapState {
    return {
      version: 1,
      ownKind: this.#ownKind.pairs(),
      earned: this.#earned.pairs(),
      queries: this.#queries.pairs(),
      shapes: this.#shapes.pairs(),
    };
  }

  /**
   * One parameter is often the page's id (`?title=Spring`, `?id=7`): any number of those is well. Several that are
   * combined freely, or an address to return to, are not.
   */
  #addsQuery(shape: UrlShape): boolean {
    if (shape.holdsAddress) return true;
    return shape.parameters > 1 && this.#shapes.get(shape.pattern) === 0;
  }

  #isOfOwnKind(url: URL, shape: UrlShape, from: URL | null): boolean {
    if (from === null || !shape.varies) return false;
    const finder = this.#shapeOfFrom(from);
    if (finder.pattern === shape.pattern) return true;
    // `/album/7/photo/1` on `/album/7` is a way down, which ends; from `/day/…` to the next `/day/…/evening` is not.
    return finder.varies && finder.family === shape.family && wayDown(url, shape, from, finder) === null;
  }

  #shapeOfPage(url: URL): UrlShape {
    if (this.#lastPage?.url !== url) this.#lastPage = { url, shape: shapeOf(url) };
    return this.#lastPage.shape;
  }

  #shapeOfFrom(from: URL): UrlShape {
    if (this.#lastFrom?.url.href !== from.href) this.#lastFrom = { url: from, shape: shapeOf(from) };
    return this.#lastFrom.shape;
  }
}

/** So many segments of a path may vary when no word is between them: year, month and day. */
const NUMBERS_BELOW = 3;

/** How a page is below the one where it was found: by a word (`/album/7/photo/1` on `/album/7`), by numbers, or not. */
function wayDown(url: URL, shape: UrlShape, from: URL, finder: UrlShape): "word" | "numbers" | null {
  if (url.host !== from.host || from.pathname === "/") return null;
  if (!url.pathname.startsWith(from.pathname.endsWith("/") ? from.pathname : `${from.pathname}/`)) return null;
  const isNumber = (segment: string) => segment.includes("{");
  if (!shape.segments.slice(finder.segments.length).every(isNumber)) return "word";
  return shape.segments.filter(isNumber).length <= NUMBERS_BELOW ? "numbers" : null;
}

/** So often may a run of segments follow itself: `/a/a/a` may be a name three times, `/a/b/a/b/a/b` is a mistake in links. */
const REPEATS_OF_ONE = 4;
const REPEATS_OF_MORE = 3;
/** So often may one word stand anywhere in a path. */
const SAME_WORD = 5;

export function isPathTrap(pathname: string, mostSegments: number): boolean {
  const segments = pathname.split("/").filter((segment) => segment !== "");
  if (segments.length > mostSegments) return true;
  const words = new Map<string, number>();
  for (const segment of segments) {
    const seen = (words.get(segment) ?? 0) + 1;
    if (seen > SAME_WORD && segment.length > 1) return true;
    words.set(segment, seen);
  }
  for (let period = 1; period * REPEATS_OF_MORE <= segments.length; period += 1) {
    // As many equal pairs at this distance as a run of that many repeats has.
    const needed = period * ((period === 1 ? REPEATS_OF_ONE : REPEATS_OF_MORE) - 1);
    let equal = 0;
    for (let at = period; at < segments.length; at += 1) {
      equal = segments[at] === segments[at - period] ? equal + 1 : 0;
      if (equal >= needed) return true;
    }
  }
  return false;
}
