/** Web search through the operator's search server. */
import { messageOf, OrbError } from "../base/errors.ts";

export const SEARCH_SOURCES = ["web", "news", "images"] as const;
export type SearchSource = (typeof SEARCH_SOURCES)[number];
export const TIME_RANGES = ["day", "week", "month", "year"] as const;

interface SearchQuery {
  query: string;
  source: SearchSource;
  limit: number;
  /** Such as `en` or `de-AT`. */
  language?: string;
  timeRange?: (typeof TIME_RANGES)[number];
  /** SearXNG's own name of a category, instead of that of the source. */
  category?: string;
}

export interface SearchResult {
  url: string;
  title: string;
  description: string;
  /** As the search server says it. */
  published: string | null;
  image: string | null;
  /** In pixels, such as 1200x800. */
  resolution: string | null;
}

interface SearchAnswer {
  results: SearchResult[];
  warnings: string[];
}

/** A page of results at a time. */
export interface SearchServer {
  page(query: SearchQuery, page: number, signal: AbortSignal): Promise<SearchAnswer>;
  close(): Promise<void>;
}

export interface SearchOrder {
  query: string;
  sources: readonly SearchSource[];
  limit: number;
  language?: string;
  timeRange?: SearchQuery["timeRange"];
  category?: string;
  includeDomains?: readonly string[];
  excludeDomains?: readonly string[];
}

export const MAX_RESULTS = 100;
export const MAX_DOMAINS = 20;
/** The search server is asked for so many pages at most: filters may leave little of each. */
const MAX_PAGES = 10;

export const NO_SEARCH =
  "web search is not set up: set APP_SEARCH_URL to the address of your SearXNG, with json in its search.formats";

export async function searchWeb(
  server: SearchServer | null,
  order: SearchOrder,
  signal: AbortSignal,
): Promise<{ found: Partial<Record<SearchSource, SearchResult[]>>; warnings: string[] }> {
  if (server === null) throw new OrbError("search_unavailable", NO_SEARCH);
  const found: Partial<Record<SearchSource, SearchResult[]>> = {};
  const warnings = new Set<string>();
  const domains = {
    include: readDomains("include_domains", order.includeDomains),
    exclude: readDomains("exclude_domains", order.excludeDomains),
  };
  let isFirst = true;
  for (const source of new Set(order.sources)) {
    const answer = await searchOne({ server, order, domains, signal }, source, isFirst);
    isFirst = false;
    found[source] = answer.results;
    for (const warning of answer.warnings) warnings.add(warning);
  }
  return { found, warnings: [...warnings] };
}

/** Names of hosts, such as `example.com`, in the form that URLs have them. */
function readDomains(path: string, list: readonly string[] = []): string[] {
  return list.map((domain, n) => {
    const url = URL.parse(`http://${domain}`);
    // Anything beside the host would be an operator or another word of the query.
    const isBare = url !== null && /^[^\s/?#@:]+$/.test(domain) && url.href === `http://${url.hostname}/`;
    if (isBare) return url.hostname;
    const message = "expected the name of a host, such as example.com";
    throw new OrbError("input_invalid", `${path}[${n}]: ${message}`, { fields: [{ path: `${path}[${n}]`, message }] });
  });
}

interface Search {
  server: SearchServer;
  order: SearchOrder;
  domains: { include: readonly string[]; exclude: readonly string[] };
  signal: AbortSignal;
}

/** A failure after the first answer of a search keeps what was found, with a warning. */
async function searchOne(
  { server, order, domains, signal }: Search,
  source: SearchSource,
  isFirst: boolean,
): Promise<SearchAnswer> {
  const { limit, language, timeRange, category } = order;
  const { include, exclude } = domains;
  const sites = include.map((domain) => `site:${domain}`).join(" OR ");
  const query: SearchQuery = {
    query: [order.query, sites, ...exclude.map((domain) => `-site:${domain}`)].filter(Boolean).join(" "),
    source,
    limit,
    ...(language === undefined ? {} : { language }),
    ...(timeRange === undefined ? {} : { timeRange }),
    ...(category === undefined || source !== "web" ? {} : { category }),
  };
  const results = new Map<string, SearchResult>();
  const seen = new Set<string>();
  const warnings = new Set<string>();
  for (let page = 1; page <= MAX_PAGES && results.size < limit; page += 1) {
    let answer: SearchAnswer;
    try {
      answer = await server.page(query, page, signal);
    } catch (error) {
      if (signal.aborted || (isFirst && page === 1)) throw error;
      warnings.add(`page ${page} of ${source} is missing: ${messageOf(error)}`);
      break;
    }
    for (const warning of answer.warnings) warnings.add(warning);
    const before = seen.size;
    for (const result of answer.results) {
      seen.add(result.url);
      // Not every engine behind the server knows the operators.
      if (isWanted(result, include, exclude)) results.set(result.url, result);
    }
    if (seen.size === before) break;
  }
  return { results: [...results.values()].slice(0, limit), warnings: [...warnings] };
}

function isWanted({ url }: SearchResult, include: readonly string[], exclude: readonly string[]): boolean {
  const host = URL.parse(url)?.hostname ?? "";
  const isOf = (domain: string) => host === domain || host.endsWith(`.${domain}`);
  return (include.length === 0 || include.some(isOf)) && !exclude.some(isOf);
}
