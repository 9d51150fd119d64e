/**
 * Spider traps: endless parts of a site. Some are visible in one URL (excessive depth, repeated segments), others only in
 * the number of pages, so pages are counted as they are added to a crawl.
 *
 * A shop with 100,000 pages `/product/{n}` must be crawled completely, a calendar `/calendar/{n}/{n}` must not. The
 * difference is where the links are found: products are found on other pages (categories, sitemaps), months only on
 * months. So a page counts only if it is found on a page of its own kind, of the same pattern or of the same family, and
 * each pattern may have 1,000 of those. A page of that kind that leads to new pages of other kinds earns one more for
 * each: a list of 5,000 pages, each found on the one before, continues as long as it shows new products. Rejected pages
 * are not remembered: found again on a page of another kind, they are admitted.
 */
import { BoundedCounts, type CountPairs } from "../lane/bounded-counts.ts";
import { shapeOf, type UrlShape } from "./url-shape.ts";

export interface TrapLimits {
  urlLength: number;
  pathSegments: number;
  queryParameters: number;
  /** Different combinations of parameters on one path. */
  queriesPerPath: number;
  /** Pages of one pattern that are found on pages of their own kind. */
  ownKindPerPattern: number;
  /** The same where days and months vary, whatever such pages earn: 27 years of days. */
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

/** The counters as JSON. State of another version is ignored: counting starts over. */
export interface TrapState {
  readonly version: 1;
  readonly ownKind: CountPairs;
  readonly earned: CountPairs;
  readonly queries: CountPairs;
  readonly shapes: CountPairs;
}

export const NO_TRAPS: TrapState = { version: 1, ownKind: [], earned: [], queries: [], shapes: [] };

/** Names per counter; about a megabyte at most. */
const CAPACITY = { ownKind: 2_000, earned: 500, queries: 1_000, shapes: 4_000 } as const;

export class Traps {
  readonly #limits: TrapLimits;
  readonly #ownKind: BoundedCounts;
  readonly #earned: BoundedCounts;
  readonly #queries: BoundedCounts;
  /** Seen combinations of parameters, by pattern. */
  readonly #shapes: BoundedCounts;
  /** Cached: the links of a page are checked one after the other. */
  #lastFrom: { url: URL; shape: UrlShape } | null = null;
  /** Cached: an admitted page is counted next. */
  #lastPage: { url: URL; shape: UrlShape } | null = null;

  constructor(limits: Readonly<TrapLimits> = TRAP_LIMITS, state: TrapState = NO_TRAPS) {
    const known = state.version === 1 ? state : NO_TRAPS;
    this.#limits = limits;
    this.#ownKind = new BoundedCounts(CAPACITY.ownKind, known.ownKind);
    this.#earned = new BoundedCounts(CAPACITY.earned, known.earned);
    this.#queries = new BoundedCounts(CAPACITY.queries, known.queries);
    this.#shapes = new BoundedCounts(CAPACITY.shapes, known.shapes);
  }

  /** Whether a page looks like part of a trap; read-only. `from`: where it was found, null for a sitemap. */
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
    // Every month leads to its days: where days and months vary, only pages elsewhere count.
    const isElsewhere = finder.family !== shape.family;
    const isBelowIt = !shape.dated && descentOf(url, shape, from, finder) === "word";
    // `/login?next=…` is linked from every page and differs for each.
    if (finder.varies && !shape.holdsAddress && (isElsewhere || isBelowIt)) this.#earned.add(finder.family);
  }

  /** A page had content, such as records: others of its kind may follow. */
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
   * One parameter is often the page's id (`?title=Spring`, `?id=7`): any number of those is fine. Freely combined
   * parameters, or a return address, are not.
   */
  #addsQuery(shape: UrlShape): boolean {
    if (shape.holdsAddress) return true;
    return shape.parameters > 1 && this.#shapes.get(shape.pattern) === 0;
  }

  #isOfOwnKind(url: URL, shape: UrlShape, from: URL | null): boolean {
    if (from === null || !shape.varies) return false;
    const finder = this.#shapeOfFrom(from);
    if (finder.pattern === shape.pattern) return true;
    // `/album/7/photo/1` on `/album/7` leads down, which ends; `/day/…/evening` on another `/day/…` does not.
    return finder.varies && finder.family === shape.family && descentOf(url, shape, from, finder) === null;
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

/** Varying segments without a word between them: year, month and day. */
const MAX_NUMBER_SEGMENTS = 3;

/** How a page is below the one with its link: by a word (`/album/7/photo/1` on `/album/7`), by numbers, or not. */
function descentOf(url: URL, shape: UrlShape, from: URL, finder: UrlShape): "word" | "numbers" | null {
  if (url.host !== from.host || from.pathname === "/") return null;
  if (!url.pathname.startsWith(from.pathname.endsWith("/") ? from.pathname : `${from.pathname}/`)) return null;
  const isNumber = (segment: string) => segment.includes("{");
  if (!shape.segments.slice(finder.segments.length).every(isNumber)) return "word";
  return shape.segments.filter(isNumber).length <= MAX_NUMBER_SEGMENTS ? "numbers" : null;
}

/** Repetitions of a run of segments that count as a trap: `/a/a/a` may be a name, `/a/b/a/b/a/b` is a broken link. */
const REPEATS_OF_ONE = 4;
const REPEATS_OF_MORE = 3;
/** Maximum occurrences of one word anywhere in a path. */
const MAX_SAME_WORD = 5;

export function isPathTrap(pathname: string, maxSegments: number): boolean {
  const segments = pathname.split("/").filter((segment) => segment !== "");
  if (segments.length > maxSegments) return true;
  const words = new Map<string, number>();
  for (const segment of segments) {
    const seen = (words.get(segment) ?? 0) + 1;
    if (seen > MAX_SAME_WORD && segment.length > 1) return true;
    words.set(segment, seen);
  }
  for (let period = 1; period * REPEATS_OF_MORE <= segments.length; period += 1) {
    // The number of equal pairs at this distance in a run with that many repeats.
    const needed = period * ((period === 1 ? REPEATS_OF_ONE : REPEATS_OF_MORE) - 1);
    let equal = 0;
    for (let at = period; at < segments.length; at += 1) {
      equal = segments[at] === segments[at - period] ? equal + 1 : 0;
      if (equal >= needed) return true;
    }
  }
  return false;
}
