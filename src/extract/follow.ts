/**
 * Finds the links that a crawl follows. Most links of a site occur on every page: a finder caches those already in the
 * store, and recognises them by their attribute, before URL resolution. All others are reported by every page that has
 * them: the first page to report a link may have failed before it was stored.
 */
import type { LinkClue } from "../domain/crawl/goal-score.ts";
import type { LeftLink } from "../domain/crawl/crawl-skips.ts";
import { compileScopeRules, type ScopeOptions, type ScopeRules } from "../domain/crawl/crawl-scope.ts";
import { Recent, RecentByGroup } from "../domain/lane/recent.ts";
import type { Element } from "./dom/nodes.ts";
import type { PageFacts } from "./facts/page-facts.ts";
import type { GoalView } from "./goal.ts";
import { isInTemplate, leadsOf } from "./links.ts";
import { isPagination } from "./next-link.ts";

/** Options of a crawl for link discovery. */
export interface FollowOrder {
  /** Cache key: crawls do not share links. */
  crawl: string;
  /** ScopeOptions as JSON. */
  scope: string;
  /** Includes links already in the store, and links beyond the depth limit. */
  all: boolean;
  /** The links exceed the depth limit: without `all`, a few unknown ones suffice to report it. */
  tooDeep: boolean;
  /** What the crawl looks for; absent: every link is as good. */
  goal?: string;
}

export interface FollowLink {
  key: string;
  url: string;
  /** Only of a crawl with a goal. */
  clue?: LinkClue;
}

/** Links that are in the store of a crawl. */
export interface KeptLinks {
  crawl: string;
  keys: readonly string[];
}

const MAX_LINKS = 50_000;
/** Of their texts. */
const MAX_CHARACTERS = 8_000_000;
/** Each link becomes a row in the transaction that settles the page. */
const MAX_PER_PAGE = 20_000;
const ENOUGH_TOO_DEEP = 5;
/** Skipped links per page; more are not counted. */
const MAX_SKIPPED = 5000;

/** A link to follow; shared by all its spellings. */
interface KnownLink {
  key: string;
  /** Null: not seen on a page by this finder. */
  url: string | null;
  /** It is in the store. */
  isKept: boolean;
}

/** Out of scope on every page. */
const SKIPPED: KnownLink = { key: "", url: null, isKept: true };

/** The link cache of one crawl. */
export class LinkFinder {
  readonly scope: string;
  readonly #rules: ScopeRules;
  /** By base and attribute text. */
  readonly #byText = new RecentByGroup<KnownLink>({ entries: MAX_LINKS, characters: MAX_CHARACTERS });
  readonly #byKey = new Recent<KnownLink>(MAX_LINKS);

  constructor(scope: string) {
    this.scope = scope;
    this.#rules = compileScopeRules(JSON.parse(scope) as ScopeOptions);
  }

  /** Adds skipped links to `left`, each when this finder first sees it. */
  find(facts: PageFacts, order: FollowOrder, left: LeftLink[] = [], goal?: GoalView): FollowLink[] {
    if (facts.robots.nofollow || facts.base === null) return [];
    const base = new Base(facts.base);
    const onlyUnknown = order.tooDeep && !order.all;
    const found = new Map<string, FollowLink>();
    for (const { element, address } of leadsOf(facts.document)) {
      if (address === "" || address.startsWith("#")) continue;
      const link = onlyUnknown
        ? this.#findUnknown(element, address, base)
        : this.#findLink(element, address, base, order, left);
      if (link === null) continue;
      found.set(link.key, goal === undefined ? link : withClue(link, element, goal, found.get(link.key)?.clue));
      if (found.size >= (onlyUnknown ? ENOUGH_TOO_DEEP : MAX_PER_PAGE)) break;
    }
    return [...found.values()];
  }

  /** The page is in the store: it is not reported again. */
  keep(key: string): void {
    const known = this.#byKey.get(key);
    if (known === undefined) this.#byKey.set(key, { key, url: null, isKept: true });
    else known.isKept = true;
  }

  #findLink(element: Element, href: string, base: Base, { all }: FollowOrder, left: LeftLink[]): FollowLink | null {
    const group = base.groupOf(href);
    let known = this.#byText.get(group, href);
    if (known === undefined) {
      if (isInTemplate(element)) return null;
      known = this.#resolve(element, href, base, left);
      this.#byText.set(group, href, known);
    }
    if (known === SKIPPED || (known.isKept && !all)) return null;
    return { key: known.key, url: known.url! };
  }

  /** Does not cache: the same link found at a lower depth must be followed. */
  #findUnknown(element: Element, href: string, base: Base): FollowLink | null {
    const known = this.#byText.get(base.groupOf(href), href);
    if (known?.isKept === true || isInTemplate(element)) return null;
    const decision = this.#rules.look(href, base.href);
    return !decision.follow || this.#byKey.get(decision.key)?.isKept === true ? null : decision;
  }

  #resolve(element: Element, href: string, base: Base, left: LeftLink[]): KnownLink {
    const decision = this.#rules.look(href, base.href);
    if (!decision.follow) {
      if (decision.why !== "not_http" && left.length < MAX_SKIPPED) left.push(skippedLink(element, href, decision));
      return SKIPPED;
    }
    const { key, url } = decision;
    let known = this.#byKey.get(key);
    if (known === undefined) this.#byKey.set(key, (known = { key, url, isKept: false }));
    known.url ??= url;
    return known;
  }
}

/** A page may have the same link several times, such as a picture, a title and "more": all of them count. */
function withClue(link: FollowLink, element: Element, goal: GoalView, before?: LinkClue): FollowLink {
  const clue = goal.clueOf(element);
  const url = before?.url ?? goal.finder.inUrl(link.url);
  if (before === undefined) return { ...link, clue: { ...clue, url } };
  const union = (a: readonly number[], b: readonly number[]) => [...new Set([...a, ...b])];
  return {
    ...link,
    clue: {
      url,
      anchor: union(before.anchor, clue.anchor),
      around: union(before.around, clue.around),
      isAside: before.isAside && clue.isAside,
    },
  };
}

type SkipDecision = Extract<ReturnType<ScopeRules["look"]>, { follow: false }>;

function skippedLink(element: Element, href: string, { why, key, url, pattern }: SkipDecision): LeftLink {
  const link: LeftLink = { key: key ?? href.slice(0, 200), why };
  const isByPattern = why === "not_included" || why === "excluded";
  if (!isByPattern || url === undefined || !isPagination(element, href)) return link;
  return { ...link, next: { url, ...(pattern === undefined ? {} : { pattern }) } };
}

/** The base URL of a page. */
class Base {
  readonly href: string;
  readonly #origin: string;
  readonly #folder: string;
  readonly #path: string;

  constructor(href: string) {
    this.href = href;
    const url = URL.parse(href);
    this.#origin = url?.origin ?? "";
    this.#path = `${this.#origin}${url?.pathname ?? ""}`;
    this.#folder = this.#path.slice(0, this.#path.lastIndexOf("/") + 1);
  }

  /** What an address depends on besides itself: links with the same text and group are equal, without parsing them. */
  groupOf(href: string): string {
    const first = href.charCodeAt(0);
    if (first === 0x2f /* / */) {
      const second = href.charCodeAt(1);
      return second === 0x2f || second === 0x5c ? this.#folder : this.#origin;
    }
    if (first === 0x3f /* ? */) return this.#path;
    return href.startsWith("http://") || href.startsWith("https://") ? "" : this.#folder;
  }
}

const MAX_CRAWLS = 20;

/** The finders of the most recently used crawls. */
export class LinkFinders {
  readonly #finders = new Map<string, LinkFinder>();

  of({ crawl, scope }: Pick<FollowOrder, "crawl" | "scope">): LinkFinder {
    const before = this.#finders.get(crawl);
    const finder = before?.scope === scope ? before : new LinkFinder(scope);
    // Re-inserted to keep the map in LRU order.
    this.#finders.delete(crawl);
    this.#finders.set(crawl, finder);
    const [oldest] = this.#finders.keys();
    if (this.#finders.size > MAX_CRAWLS && oldest !== undefined) this.#finders.delete(oldest);
    return finder;
  }

  keep({ crawl, keys }: KeptLinks): void {
    const finder = this.#finders.get(crawl);
    if (finder !== undefined) for (const key of keys) finder.keep(key);
  }
}
