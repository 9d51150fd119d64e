/**
 * The links of a page that a crawl follows. Most links of a site stand on every page: a finder remembers those that are
 * in the store already, and recognises them by their attribute, before they are resolved. All others are told by every
 * page that has them: who was the first to tell may not have come to write it down.
 */
import type { LeftLink } from "../domain/crawl/crawl-skips.ts";
import { compileScopeRules, type ScopeOptions, type ScopeRules } from "../domain/crawl/crawl-scope.ts";
import { Recent } from "../domain/lane/recent.ts";
import type { Element } from "./dom/nodes.ts";
import type { PageFacts } from "./facts/page-facts.ts";
import { isInTemplate, leadsOf } from "./links.ts";
import { isPagination } from "./next-link.ts";

/** What a crawl wants to know of a page's links. */
export interface FollowOrder {
  /** Crawls do not share what was found. */
  crawl: string;
  /** ScopeOptions as JSON. */
  scope: string;
  /** Also what is in the store already, and what leads too deep. */
  all: boolean;
  /** The links lead too deep: unless all are wanted, a few that nobody knows are enough to say so. */
  tooDeep: boolean;
}

export interface FollowLink {
  key: string;
  url: string;
}

/** Links that a crawl has in its store. */
export interface KeptLinks {
  crawl: string;
  keys: readonly string[];
}

const MOST_LINKS = 50_000;
/** Links of one page; each becomes a row in the transaction that ends the page. */
const MOST_ON_A_PAGE = 20_000;
const ENOUGH_TOO_DEEP = 5;
/** Links that a page names and the crawl leaves: more are not counted. */
const MOST_LEFT = 5000;

/** A link that the crawl follows; one for all ways to write it. */
interface Known {
  key: string;
  /** Null: no page has it of those that this finder has seen. */
  url: string | null;
  /** It is in the store. */
  isKept: boolean;
}

/** The crawl leaves it, wherever it stands. */
const LEFT: Known = { key: "", url: null, isKept: true };

/** Of one crawl. */
export class LinkFinder {
  readonly scope: string;
  readonly #rules: ScopeRules;
  /** By the attribute and what it is relative to. */
  readonly #byText = new Recent<Known>(MOST_LINKS);
  readonly #byKey = new Recent<Known>(MOST_LINKS);

  constructor(scope: string) {
    this.scope = scope;
    this.#rules = compileScopeRules(JSON.parse(scope) as ScopeOptions);
  }

  /** `left` gets the links that the crawl leaves, each when this finder sees it for the first time. */
  find(facts: PageFacts, order: FollowOrder, left: LeftLink[] = []): FollowLink[] {
    if (facts.robots.nofollow || facts.base === null) return [];
    const base = new Base(facts.base);
    const aFew = order.tooDeep && !order.all;
    const found = new Map<string, FollowLink>();
    for (const { element, address } of leadsOf(facts.document)) {
      if (address === "" || address.startsWith("#")) continue;
      const link = aFew ? this.#unknown(element, address, base) : this.#look(element, address, base, order, left);
      if (link === null) continue;
      found.set(link.key, link);
      if (found.size >= (aFew ? ENOUGH_TOO_DEEP : MOST_ON_A_PAGE)) break;
    }
    return [...found.values()];
  }

  /** The crawl has this page in its store: it is not reported again. */
  keep(key: string): void {
    const known = this.#byKey.get(key);
    if (known === undefined) this.#byKey.set(key, { key, url: null, isKept: true });
    else known.isKept = true;
  }

  #look(element: Element, href: string, base: Base, { all }: FollowOrder, left: LeftLink[]): FollowLink | null {
    const text = base.nameOf(href);
    let known = this.#byText.get(text);
    if (known === undefined) {
      if (isInTemplate(element)) return null;
      known = this.#resolve(element, href, base, left);
      this.#byText.set(standalone(text), known);
    }
    if (known === LEFT || (known.isKept && !all)) return null;
    return { key: known.key, url: known.url! };
  }

  /** Nothing of it is remembered: found nearer to the start it would be followed. */
  #unknown(element: Element, href: string, base: Base): FollowLink | null {
    const known = this.#byText.get(base.nameOf(href));
    if (known?.isKept === true || isInTemplate(element)) return null;
    const decision = this.#rules.look(href, base.href);
    return !decision.follow || this.#byKey.get(decision.key)?.isKept === true ? null : decision;
  }

  #resolve(element: Element, href: string, base: Base, left: LeftLink[]): Known {
    const decision = this.#rules.look(href, base.href);
    if (!decision.follow) {
      if (decision.why !== "not_http" && left.length < MOST_LEFT) left.push(leftLink(element, href, decision));
      return LEFT;
    }
    const { key, url } = decision;
    let known = this.#byKey.get(key);
    if (known === undefined) this.#byKey.set(key, (known = { key, url, isKept: false }));
    known.url ??= url;
    return known;
  }
}

type Left = Extract<ReturnType<ScopeRules["look"]>, { follow: false }>;

function leftLink(element: Element, href: string, { why, key, url, pattern }: Left): LeftLink {
  const link: LeftLink = { key: key ?? href.slice(0, 200), why };
  const isByPattern = why === "not_included" || why === "excluded";
  if (!isByPattern || url === undefined || !isPagination(element, href)) return link;
  return { ...link, next: { url, ...(pattern === undefined ? {} : { pattern }) } };
}

/** What links are relative to. */
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

  /** The same text for links that mean the same, without taking them apart. */
  nameOf(href: string): string {
    const first = href.charCodeAt(0);
    if (first === 0x2f /* / */) {
      const second = href.charCodeAt(1);
      return second === 0x2f || second === 0x5c ? `${this.#folder} ${href}` : this.#origin + href;
    }
    if (first === 0x3f /* ? */) return this.#path + href;
    return href.startsWith("http://") || href.startsWith("https://") ? href : `${this.#folder} ${href}`;
  }
}

/** A piece of a text keeps the whole text in memory, here the page: what is remembered is a text of its own. */
function standalone(text: string): string {
  return Buffer.from(text, "utf8").toString("utf8");
}

const MOST_CRAWLS = 20;

/** The finders of the crawls that were asked about last. */
export class LinkFinders {
  readonly #finders = new Map<string, LinkFinder>();

  of({ crawl, scope }: Pick<FollowOrder, "crawl" | "scope">): LinkFinder {
    const before = this.#finders.get(crawl);
    const finder = before?.scope === scope ? before : new LinkFinder(scope);
    // Taken out and put back: the map keeps the order of use, and the first one is the one to forget.
    this.#finders.delete(crawl);
    this.#finders.set(crawl, finder);
    const [oldest] = this.#finders.keys();
    if (this.#finders.size > MOST_CRAWLS && oldest !== undefined) this.#finders.delete(oldest);
    return finder;
  }

  keep({ crawl, keys }: KeptLinks): void {
    const finder = this.#finders.get(crawl);
    if (finder !== undefined) for (const key of keys) finder.keep(key);
  }
}
