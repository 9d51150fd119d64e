/**
 * Which links a crawl follows. The scope is compiled once from the user's options and gives, for every link, the key of
 * its page or the reason to skip it.
 */
import type { FieldError } from "../../base/errors.ts";
import { MOST_STARTS } from "./crawl-limits.ts";
import { STAY_WITHIN } from "./crawl-settings.ts";
import { compileCrawlPatterns, type CrawlPatterns, type PatternLists } from "./crawl-patterns.ts";
import { crawlSiteOf } from "./crawl-site.ts";
import { fileEnding, isDocumentEnding } from "../page/file-kinds.ts";
import type { Parsed } from "../lane/queue-item.ts";
import { withoutSessionIds } from "../page/session-ids.ts";
import { NO_TRAPS, TRAP_LIMITS, type TrapLimits, type TrapReason, Traps, type TrapState } from "./traps.ts";
import { canonicalUrl, fetchUrl, keyUrl, pageKey } from "../text/url.ts";
import { patternTarget } from "./url-pattern.ts";

/** The part of a crawl request that defines its scope; names as in the API. Other keys are ignored. */
export interface ScopeOptions extends PatternLists {
  /** One or several start URLs. */
  url: string | readonly string[] | undefined;
  /** Link hops from a start; 0: the starts only. Absent: no limit. */
  max_depth?: number | null | undefined;
  /** Default: true. */
  same_site?: boolean | null | undefined;
  /** With `same_site`: default is the whole site. */
  stay_within?: StayWithin | null | undefined;
  /** Whether files that can be read, such as PDF, are pages. Default: true. */
  documents?: boolean | null | undefined;
}

/** The part of a crawl's options that decides which links it follows. */
export function scopeOptionsOf(options: Omit<ScopeOptions, "url">): Omit<ScopeOptions, "url"> {
  const { max_depth, include, exclude, follow, read, same_site, stay_within, documents } = options;
  return { max_depth, include, exclude, follow, read, same_site, stay_within, documents };
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

/** Where a link was found. */
interface LinkSource {
  /** Depth of the linked page. */
  depth: number;
  /** The page with the link; null for a start or a sitemap entry. */
  from: string | null;
}

/** URLs with the same key are one page of a crawl. */
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

/** The starts of a crawl with valid options, one per key. */
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
  const documents: unknown = options.documents ?? true;
  if (typeof documents !== "boolean") errors.push({ path: "documents", message: "expected true or false" });
  if (errors.length > 0) return null;
  const sites = sameSite === true ? new Set(starts.map(({ url }) => crawlSiteOf(new URL(url)))) : null;
  const near = within === "site" ? null : starts.map(({ url }) => areaOf(new URL(url), within as StayWithin));
  return new ScopeRules({ starts, patterns, sites, near, urlLength, documents: documents === true });
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
  /** Null: anywhere on its sites. */
  near: readonly StartArea[] | null;
  urlLength: number;
  documents: boolean;
}

type RulesDecision = { follow: true; key: string; url: string } | ({ follow: false } & Left);
type StaticReason = Exclude<LeftReason, TrapReason | "depth">;

interface Left {
  why: StaticReason;
  /** Only of links skipped by patterns; `pattern` is the one that excludes it. */
  key?: string;
  url?: string;
  pattern?: string;
}

/** The part of the scope that depends on the URL only. */
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

  /** Whether a fetched page gives records; otherwise only its links are followed. */
  reads(url: string): boolean {
    const { patterns } = this.#rules;
    return patterns.readsAll || patterns.reads(targetOf(url));
  }

  #whyNot(page: URL, url: string): Left | null {
    const { sites, near, patterns, documents } = this.#rules;
    if (sites !== null && !sites.has(crawlSiteOf(page))) return { why: "other_site" };
    if (near !== null && !isNear(page, near)) return { why: "elsewhere" };
    const file = fileEnding(page.pathname);
    const ending = documents && file !== null && isDocumentEnding(file) ? null : file;
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

  /** Links on a page of this depth are within `max_depth`. */
  goesDeeperThan(depth: number): boolean {
    return depth < this.#maxDepth;
  }

  /**
   * Read-only: may be called as often as a link is found. `depth` is checked last, so a link skipped for it is one that a
   * deeper crawl would follow.
   */
  decide(link: string, source: LinkSource): ScopeDecision {
    const decision = this.#rules.look(link, source.from);
    if (!decision.follow) return left(decision.why);
    if (this.#rules.isStart(decision.key)) return decision;
    const page = pageOf(decision.url);
    const why = page === null ? null : this.#whyNot(page, source);
    return why === null ? decision : left(why);
  }

  /**
   * Why a page that the rules allow is skipped; null: it is admitted, and counted. Called once for each key that is added
   * to the crawl: traps are recognised by their number of pages.
   */
  admit({ key, url }: { key: string; url: string }, source: LinkSource): TrapReason | "depth" | null {
    // The key contains the canonical URL already.
    const page = keyUrl(key) ?? pageOf(url);
    if (page === null) return null;
    const why = this.#rules.isStart(key) ? null : this.#whyNot(page, source);
    if (why !== null) return why;
    this.#traps.count(page, this.#fromUrl(source.from));
    this.#trapChanges += 1;
    return null;
  }

  /** A page had content, such as records: others of its kind are no trap. */
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

  /** The counters; pass them to `compileScope` to continue counting. */
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
  return near.some((area) => area.host === host && page.pathname.startsWith(area.path));
}

function targetOf(url: string, canonical?: string): ReturnType<typeof patternTarget> {
  return patternTarget(new URL(withoutSessionIds(url)), canonical);
}

function startsOf(value: unknown, urlLength: number, errors: FieldError[]): Start[] {
  const isList = Array.isArray(value);
  const texts: readonly unknown[] = isList ? value : [value];
  if (texts.length === 0) errors.push({ path: "url", message: "expected at least one start URL" });
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
        message: text === undefined ? "is required: the start URL (or urls, a list)" : "expected a URL",
      });
    else if (text.length > urlLength || (url?.length ?? 0) > urlLength) {
      errors.push({ path, message: `is longer than ${urlLength} characters` });
    } else if (url === null || !/^https?:/.test(url)) {
      errors.push({ path, message: `expected an absolute http or https URL${schemeHint(text)}` });
    } else {
      const key = crawlKey(url);
      if (!starts.has(key)) starts.set(key, { url, key });
    }
  }
  return [...starts.values()];
}

/** Users often omit the scheme. */
function schemeHint(text: string): string {
  const near = /^[\w.-]+(?::\d+)?(?:[/?#]|$)/.test(text) ? fetchUrl(`http://${text}`) : null;
  return near === null ? "" : `, did you mean "${near}"?`;
}

function depthOf(value: unknown, errors: FieldError[]): number {
  if (value === undefined || value === null) return Number.POSITIVE_INFINITY;
  if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= SCOPE_LIMITS.depth) return value;
  errors.push({ path: "max_depth", message: `expected a whole number from 0 to ${SCOPE_LIMITS.depth}` });
  return 0;
}
