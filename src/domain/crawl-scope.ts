/**
 * Which links a crawl follows. The scope is made once from what the user asked for, and says for every link either
 * under which key its page is crawled, or why it is left.
 */
import type { FieldError } from "../base/errors.ts";
import { crawlSiteOf } from "./crawl-site.ts";
import { fileEnding } from "./file-kinds.ts";
import type { Parsed } from "./queue-item.ts";
import { withoutSessionIds } from "./session-ids.ts";
import { NO_TRAPS, TRAP_LIMITS, type TrapLimits, type TrapReason, Traps, type TrapState } from "./traps.ts";
import { canonicalUrl, fetchUrl, pageKey } from "./url.ts";
import { compilePatterns, type PatternTarget, patternTarget, type UrlPattern } from "./url-pattern.ts";

/** The part of a request for a crawl that the scope is made of, in the words of the API. Other keys are not looked at. */
export interface ScopeOptions {
  /** Where the crawl begins: one URL or several. */
  url: string | readonly string[];
  /** Links from a start to a page: 0 is that page alone. Without it there is no limit. */
  max_depth?: number | null | undefined;
  include?: readonly string[] | null | undefined;
  exclude?: readonly string[] | null | undefined;
  /** True unless told. */
  same_site?: boolean | null | undefined;
}

export const LEFT_REASONS = [
  "not_http",
  "too_long",
  "other_site",
  "excluded",
  "not_included",
  "file",
  "trap_path",
  "trap_query",
  "trap_pattern",
  "depth",
] as const;
export type LeftReason = (typeof LEFT_REASONS)[number];

export type ScopeDecision =
  /** `url` is the address to fetch; each `key` is crawled once. */
  { follow: true; key: string; url: string } | { follow: false; why: LeftReason };

/** Where a link stands. */
export interface LinkPlace {
  /** Of the page that the link leads to. */
  depth: number;
  /** The page that the link was found on; null for a start and for an entry of a sitemap. */
  from: string | null;
}

export const SCOPE_LIMITS = { starts: 1_000, depth: 1_000_000 } as const;

export function compileScope(
  options: ScopeOptions,
  { traps = NO_TRAPS, limits = {} }: { traps?: TrapState; limits?: Partial<TrapLimits> } = {},
): Parsed<CrawlScope> {
  const merged = { ...TRAP_LIMITS, ...limits };
  const errors: FieldError[] = [];
  const starts = startsOf(options.url, merged.urlLength, errors);
  const maxDepth = depthOf(options.max_depth, errors);
  const include = compilePatterns(options.include, "include");
  const exclude = compilePatterns(options.exclude, "exclude");
  errors.push(...(include.errors ?? []), ...(exclude.errors ?? []));
  const sameSite: unknown = options.same_site ?? true;
  if (typeof sameSite !== "boolean") errors.push({ path: "same_site", message: "expected true or false" });
  if (errors.length > 0) return { errors };
  return {
    ok: new CrawlScope({
      starts,
      maxDepth,
      include: include.ok ?? [],
      exclude: exclude.ok ?? [],
      sites: sameSite === true ? new Set(starts.map(({ url }) => crawlSiteOf(new URL(url)))) : null,
      urlLength: merged.urlLength,
      traps: new Traps(merged, traps),
    }),
  };
}

interface Start {
  url: string;
  key: string;
}

interface Rules {
  starts: readonly Start[];
  maxDepth: number;
  include: readonly UrlPattern[];
  exclude: readonly UrlPattern[];
  /** Null: every site. */
  sites: ReadonlySet<string> | null;
  urlLength: number;
  traps: Traps;
}

export class CrawlScope {
  readonly #rules: Rules;
  readonly #startKeys: ReadonlySet<string>;
  #lastFrom: { text: string; url: URL | null } | null = null;

  constructor(rules: Rules) {
    this.#rules = rules;
    this.#startKeys = new Set(rules.starts.map(({ key }) => key));
  }

  /** Where the crawl begins, each page once. */
  get starts(): readonly Start[] {
    return this.#rules.starts;
  }

  /**
   * Counts nothing: the same link may be asked about as often as it is found. `depth` is the last reason that is looked
   * for, so a link that was left because of it is one that a deeper crawl would follow.
   */
  decide(link: string, { depth, from }: LinkPlace): ScopeDecision {
    const { urlLength, maxDepth } = this.#rules;
    if (link.length > urlLength) return left("too_long");
    const url = fetchUrl(link, from ?? undefined);
    if (url === null || !/^https?:/.test(url)) return left("not_http");
    if (url.length > urlLength) return left("too_long");
    const canonical = canonicalUrl(withoutSessionIds(url));
    const key = pageKey({ url: canonical });
    if (this.#startKeys.has(key)) return { follow: true, key, url };
    const page = new URL(canonical);
    const why = this.#whyNot(page, url) ?? this.#rules.traps.check(page, this.#fromUrl(from));
    if (why !== null) return left(why);
    return depth > maxDepth ? left("depth") : { follow: true, key, url };
  }

  /** Called once for each key that is really added to the crawl: the traps are recognised by how much there is. */
  count(link: string, from: string | null): void {
    const page = pageOf(link);
    if (page !== null) this.#rules.traps.count(page, this.#fromUrl(from));
  }

  /** A page gave something of worth, such as records: others of its kind are no trap. */
  earn(link: string, pages = 1): void {
    const page = pageOf(link);
    if (page !== null) this.#rules.traps.earn(page, pages);
  }

  /** What was counted; given to `compileScope` again, counting goes on from there. */
  trapState(): TrapState {
    return this.#rules.traps.state();
  }

  #whyNot(page: URL, url: string): Exclude<LeftReason, TrapReason> | null {
    const { sites, include, exclude } = this.#rules;
    if (sites !== null && !sites.has(crawlSiteOf(page))) return "other_site";
    const ending = fileEnding(page.pathname);
    if (include.length === 0 && exclude.length === 0) return ending === null ? null : "file";
    const target = patternTarget(new URL(withoutSessionIds(url)), page.href);
    if (exclude.some((pattern) => pattern.matches(target))) return "excluded";
    if (include.length === 0) return ending === null ? null : "file";
    return ending === null ? anyMatches(include, target) : fileIsWanted(include, target, ending);
  }

  #fromUrl(from: string | null): URL | null {
    if (from === null) return null;
    if (this.#lastFrom?.text !== from) this.#lastFrom = { text: from, url: pageOf(from) };
    return this.#lastFrom.url;
  }
}

function left(why: LeftReason): ScopeDecision {
  return { follow: false, why };
}

function pageOf(url: string): URL | null {
  const fetched = fetchUrl(url);
  return fetched === null ? null : URL.parse(canonicalUrl(withoutSessionIds(fetched)));
}

function anyMatches(include: readonly UrlPattern[], target: PatternTarget): "not_included" | null {
  return include.some((pattern) => pattern.matches(target)) ? null : "not_included";
}

/** A file is wanted only by a pattern that names its ending: with `/docs/**` one means pages. */
function fileIsWanted(
  include: readonly UrlPattern[],
  target: PatternTarget,
  ending: string,
): "not_included" | "file" | null {
  const matching = include.filter((pattern) => pattern.matches(target));
  if (matching.length === 0) return "not_included";
  const named = new RegExp(`(?<![a-z0-9])${ending}(?![a-z0-9])`, "i");
  return matching.some(({ text }) => named.test(text)) ? null : "file";
}

function startsOf(value: unknown, urlLength: number, errors: FieldError[]): Start[] {
  const isList = Array.isArray(value);
  const given: readonly unknown[] = isList ? value : [value];
  if (given.length === 0) errors.push({ path: "url", message: "expected at least one URL to begin with" });
  if (given.length > SCOPE_LIMITS.starts) {
    errors.push({ path: "url", message: `has ${given.length} URLs, at most ${SCOPE_LIMITS.starts} are allowed` });
    return [];
  }
  const starts = new Map<string, Start>();
  for (const [index, text] of given.entries()) {
    const path = isList ? `url[${index}]` : "url";
    const url = typeof text === "string" && text.length <= urlLength ? fetchUrl(text) : null;
    if (typeof text !== "string") errors.push({ path, message: text === undefined ? "is required" : "expected a URL" });
    else if (text.length > urlLength || (url?.length ?? 0) > urlLength) {
      errors.push({ path, message: `is longer than ${urlLength} characters` });
    } else if (url === null || !/^https?:/.test(url)) {
      errors.push({ path, message: "expected an absolute http or https URL" });
    } else {
      const key = pageKey({ url: withoutSessionIds(url) });
      if (!starts.has(key)) starts.set(key, { url, key });
    }
  }
  return [...starts.values()];
}

function depthOf(value: unknown, errors: FieldError[]): number {
  if (value === undefined || value === null) return Number.POSITIVE_INFINITY;
  if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= SCOPE_LIMITS.depth) return value;
  errors.push({ path: "max_depth", message: `expected a whole number from 0 to ${SCOPE_LIMITS.depth}` });
  return 0;
}
