/**
 * Which links a crawl follows. The scope is made once from what the user asked for, and says for every link either
 * under which key its page is crawled, or why it is left.
 */
import type { FieldError } from "../../base/errors.ts";
import { MOST_STARTS } from "./crawl-limits.ts";
import { STAY_WITHIN } from "./crawl-settings.ts";
import { compileCrawlPatterns, type CrawlPatterns, type PatternLists } from "./crawl-patterns.ts";
import { crawlSiteOf } from "./crawl-site.ts";
import { fileEnding } from "../page/file-kinds.ts";
import type { Parsed } from "../lane/queue-item.ts";
import { withoutSessionIds } from "../page/session-ids.ts";
import { NO_TRAPS, TRAP_LIMITS, type TrapLimits, type TrapReason, Traps, type TrapState } from "./traps.ts";
import { canonicalUrl, fetchUrl, keyUrl, pageKey } from "../text/url.ts";
import { patternTarget } from "./url-pattern.ts";

/** The part of a request for a crawl that the scope is made of, in the words of the API. Other keys are not looked at. */
export interface ScopeOptions extends PatternLists {
  /** Where the crawl begins: one URL or several. */
  url: string | readonly string[] | undefined;
  /** Links from a start to a page: 0 is that page alone. Without it there is no limit. */
  max_depth?: number | null | undefined;
  /** Default: true. */
  same_site?: boolean | null | undefined;
  /** How near to a start its pages are when it stays at its site; default: the whole site. */
  stay_within?: StayWithin | null | undefined;
}

/** The part of a crawl's options that decides which links it follows. */
export function scopeOptionsOf(options: Omit<ScopeOptions, "url">): Omit<ScopeOptions, "url"> {
  const { max_depth, include, exclude, follow, read, same_site, stay_within } = options;
  return { max_depth, include, exclude, follow, read, same_site, stay_within };
}

type StayWithin = (typeof STAY_WITHIN)[number];

export const LEFT_REASONS = [
  "not_http",
  "too_long",
  "other_site",
  "elsewhere",
  "excluded",
  "not_included",
  "file",
  "trap_path",
  "trap_query",
  "trap_pattern",
  "depth",
] as const;
export type LeftReason = (typeof LEFT_REASONS)[number];

type ScopeDecision =
  /** `url` is the address to fetch; each `key` is crawled once. */
  { follow: true; key: string; url: string } | { follow: false; why: LeftReason };

/** Where a link stands. */
interface LinkSource {
  /** Of the page that the link leads to. */
  depth: number;
  /** The page that the link was found on; null for a start and for an entry of a sitemap. */
  from: string | null;
}

/** Two addresses with the same key are one page of a crawl. */
export function crawlKey(url: string): string {
  return pageKey({ url: withoutSessionIds(url) });
}

export const SCOPE_LIMITS = { starts: MOST_STARTS, depth: 1_000_000 } as const;

export function compileScope(
  options: ScopeOptions,
  { traps = NO_TRAPS, limits = {} }: { traps?: TrapState; limits?: Partial<TrapLimits> } = {},
): Parsed<CrawlScope> {
  const merged = { ...TRAP_LIMITS, ...limits };
  const errors: FieldError[] = [];
  const rules = parseRules(options, merged.urlLength, errors);
  const maxDepth = depthOf(options.max_depth, errors);
  if (rules === null || errors.length > 0) return { errors };
  return { ok: new CrawlScope(rules, maxDepth, new Traps(merged, traps)) };
}

/** Where a crawl with valid options begins: one page for each key. */
export function crawlStarts(urls: readonly string[]): readonly Start[] {
  return startsOf(urls, TRAP_LIMITS.urlLength, []);
}

/** The stateless part of a scope, for code that filters links elsewhere. */
export function compileScopeRules(options: ScopeOptions): ScopeRules {
  const errors: FieldError[] = [];
  const rules = parseRules(options, TRAP_LIMITS.urlLength, errors);
  if (rules === null) throw new Error(errors.map(({ path, message }) => `${path}: ${message}`).join("; "));
  return rules;
}

function parseRules(options: ScopeOptions, urlLength: number, errors: FieldError[]): ScopeRules | null {
  const starts = startsOf(options.url, urlLength, errors);
  const patterns = compileCrawlPatterns(options, errors);
  const sameSite: unknown = options.same_site ?? true;
  if (typeof sameSite !== "boolean") errors.push({ path: "same_site", message: "expected true or false" });
  const within: unknown = options.stay_within ?? "site";
  if (!(STAY_WITHIN as readonly unknown[]).includes(within))
    errors.push({ path: "stay_within", message: `expected one of ${STAY_WITHIN.join(", ")}` });
  else if (within !== "site" && sameSite === false)
    errors.push({
      path: "stay_within",
      message: "cannot be combined with same_site: false, which follows links to other sites",
    });
  if (errors.length > 0) return null;
  const sites = sameSite === true ? new Set(starts.map(({ url }) => crawlSiteOf(new URL(url)))) : null;
  const near = within === "site" ? null : starts.map(({ url }) => areaOf(new URL(url), within as StayWithin));
  return new ScopeRules({ starts, patterns, sites, near, urlLength });
}

interface StartArea {
  host: string;
  path: string;
}

function areaOf(url: URL, within: StayWithin): StartArea {
  return { host: plainHost(url), path: within === "path" ? url.pathname : "/" };
}

function plainHost({ host }: URL): string {
  return host.replace(/^www\./, "");
}

interface Start {
  url: string;
  key: string;
}

interface Rules {
  starts: readonly Start[];
  patterns: CrawlPatterns;
  /** Null: every site. */
  sites: ReadonlySet<string> | null;
  /** Null: anywhere at its sites. */
  near: readonly StartArea[] | null;
  urlLength: number;
}

type RulesDecision = { follow: true; key: string; url: string } | ({ follow: false } & Left);
type StaticReason = Exclude<LeftReason, TrapReason | "depth">;

interface Left {
  why: StaticReason;
  /** Of what is left by patterns; `pattern` is the one that excludes it. */
  key?: string;
  url?: string;
  pattern?: string;
}

/** What can be said of a link from its address alone. */
export class ScopeRules {
  readonly #rules: Rules;
  readonly #startKeys: ReadonlySet<string>;

  constructor(rules: Rules) {
    this.#rules = rules;
    this.#startKeys = new Set(rules.starts.map(({ key }) => key));
  }

  get starts(): readonly Start[] {
    return this.#rules.starts;
  }

  isStart(key: string): boolean {
    return this.#startKeys.has(key);
  }

  look(link: string, from: string | null): RulesDecision {
    const { urlLength } = this.#rules;
    if (link.length > urlLength) return left("too_long");
    const url = fetchUrl(link, from ?? undefined);
    if (url === null || !/^https?:/.test(url)) return left("not_http");
    if (url.length > urlLength) return left("too_long");
    const canonical = canonicalUrl(withoutSessionIds(url));
    const key = pageKey({ url: canonical });
    if (this.#startKeys.has(key)) return { follow: true, key, url };
    const why = this.#whyNot(new URL(canonical), url);
    return why === null ? { follow: true, key, url } : { follow: false, key, url, ...why };
  }

  /** Whether a page that is fetched gives records; one that does not is followed only. */
  reads(url: string): boolean {
    const { patterns } = this.#rules;
    return patterns.readsAll || patterns.reads(targetOf(url));
  }

  #whyNot(page: URL, url: string): Left | null {
    const { sites, near, patterns } = this.#rules;
    if (sites !== null && !sites.has(crawlSiteOf(page))) return { why: "other_site" };
    if (near !== null && !isNear(page, near)) return { why: "elsewhere" };
    const ending = fileEnding(page.pathname);
    if (patterns.areNone) return ending === null ? null : { why: "file" };
    return patterns.whyNot(targetOf(url, page.href), ending);
  }
}

export class CrawlScope {
  readonly #rules: ScopeRules;
  readonly #maxDepth: number;
  readonly #traps: Traps;
  #lastFrom: { text: string; url: URL | null } | null = null;
  #trapChanges = 0;

  constructor(rules: ScopeRules, maxDepth: number, traps: Traps) {
    this.#rules = rules;
    this.#maxDepth = maxDepth;
    this.#traps = traps;
  }

  /** Where the crawl begins, each page once. */
  get starts(): readonly Start[] {
    return this.#rules.starts;
  }

  isStart(key: string): boolean {
    return this.#rules.isStart(key);
  }

  /** See `ScopeRules`. */
  reads(url: string): boolean {
    return this.#rules.reads(url);
  }

  /** Links on a page of this depth lead to pages that are still wanted. */
  goesDeeperThan(depth: number): boolean {
    return depth < this.#maxDepth;
  }

  /**
   * Counts nothing: the same link may be asked about as often as it is found. `depth` is the last reason that is looked
   * for, so a link that was left because of it is one that a deeper crawl would follow.
   */
  decide(link: string, place: LinkSource): ScopeDecision {
    const decision = this.#rules.look(link, place.from);
    if (!decision.follow) return left(decision.why);
    if (this.#rules.isStart(decision.key)) return decision;
    const page = pageOf(decision.url);
    const why = page === null ? null : this.#whyNot(page, place);
    return why === null ? decision : left(why);
  }

  /**
   * Why a page that the rules allow is left all the same; null: it is not, and then it counts. Called once for each key
   * that is added to the crawl: the traps are recognised by how much there is.
   */
  admit({ key, url }: { key: string; url: string }, place: LinkSource): TrapReason | "depth" | null {
    // The key names the page in canonical form: it need not be worked out again.
    const page = keyUrl(key) ?? pageOf(url);
    if (page === null) return null;
    const why = this.#rules.isStart(key) ? null : this.#whyNot(page, place);
    if (why !== null) return why;
    this.#traps.count(page, this.#fromUrl(place.from));
    this.#trapChanges += 1;
    return null;
  }

  /** A page gave something of worth, such as records: others of its kind are no trap. */
  earn(link: string, pages = 1): void {
    const page = pageOf(link);
    if (page === null) return;
    this.#traps.earn(page, pages);
    this.#trapChanges += 1;
  }

  /** Grows whenever something is counted. */
  get trapChanges(): number {
    return this.#trapChanges;
  }

  /** What was counted; given to `compileScope` again, counting goes on from there. */
  trapState(): TrapState {
    return this.#traps.state();
  }

  #whyNot(page: URL, { depth, from }: LinkSource): TrapReason | "depth" | null {
    return this.#traps.check(page, this.#fromUrl(from)) ?? (depth > this.#maxDepth ? "depth" : null);
  }

  #fromUrl(from: string | null): URL | null {
    if (from === null) return null;
    if (this.#lastFrom?.text !== from) this.#lastFrom = { text: from, url: pageOf(from) };
    return this.#lastFrom.url;
  }
}

function left<Reason extends LeftReason>(why: Reason): { follow: false; why: Reason } {
  return { follow: false, why };
}

function pageOf(url: string): URL | null {
  const fetched = fetchUrl(url);
  return fetched === null ? null : URL.parse(canonicalUrl(withoutSessionIds(fetched)));
}

function isNear(page: URL, near: readonly StartArea[]): boolean {
  const host = plainHost(page);
  return near.some((place) => place.host === host && page.pathname.startsWith(place.path));
}

function targetOf(url: string, canonical?: string): ReturnType<typeof patternTarget> {
  return patternTarget(new URL(withoutSessionIds(url)), canonical);
}

function startsOf(value: unknown, urlLength: number, errors: FieldError[]): Start[] {
  const isList = Array.isArray(value);
  const texts: readonly unknown[] = isList ? value : [value];
  if (texts.length === 0) errors.push({ path: "url", message: "expected at least one URL to begin with" });
  if (texts.length > SCOPE_LIMITS.starts) {
    errors.push({ path: "url", message: `has ${texts.length} URLs, at most ${SCOPE_LIMITS.starts} are allowed` });
    return [];
  }
  const starts = new Map<string, Start>();
  for (const [index, text] of texts.entries()) {
    const path = isList ? `url[${index}]` : "url";
    const url = typeof text === "string" && text.length <= urlLength ? fetchUrl(text) : null;
    if (typeof text !== "string")
      errors.push({
        path,
        message: text === undefined ? "is required: where the crawl begins (or urls, a list)" : "expected a URL",
      });
    else if (text.length > urlLength || (url?.length ?? 0) > urlLength) {
      errors.push({ path, message: `is longer than ${urlLength} characters` });
    } else if (url === null || !/^https?:/.test(url)) {
      errors.push({ path, message: `expected an absolute http or https URL${meant(text)}` });
    } else {
      const key = crawlKey(url);
      if (!starts.has(key)) starts.set(key, { url, key });
    }
  }
  return [...starts.values()];
}

/** People leave the scheme away. */
function meant(text: string): string {
  const near = /^[\w.-]+(?::\d+)?(?:[/?#]|$)/.test(text) ? fetchUrl(`http://${text}`) : null;
  return near === null ? "" : `, did you mean "${near}"?`;
}

function depthOf(value: unknown, errors: FieldError[]): number {
  if (value === undefined || value === null) return Number.POSITIVE_INFINITY;
  if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= SCOPE_LIMITS.depth) return value;
  errors.push({ path: "max_depth", message: `expected a whole number from 0 to ${SCOPE_LIMITS.depth}` });
  return 0;
}
