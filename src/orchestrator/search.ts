/** Web search through the operator's search server. */
import { OrbError } from "../base/errors.ts";

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
  for (const source of new Set(order.sources)) {
    const answer = await searchOne(server, order, source, signal);
    found[source] = answer.results;
    for (const warning of answer.warnings) warnings.add(warning);
  }
  return { found, warnings: [...warnings] };
}

async function searchOne(
  server: SearchServer,
  order: SearchOrder,
  source: SearchSource,
  signal: AbortSignal,
): Promise<SearchAnswer> {
  const { includeDomains = [], excludeDomains = [], limit, language, timeRange, category } = order;
  const sites = includeDomains.map((domain) => `site:${domain}`).join(" OR ");
  const query: SearchQuery = {
    query: [order.query, sites, ...excludeDomains.map((domain) => `-site:${domain}`)].filter(Boolean).join(" "),
    source,
    limit,
    ...(language === undefined ? {} : { language }),
    ...(timeRange === undefined ? {} : { timeRange }),
    ...(category === undefined || source !== "web" ? {} : { category }),
  };
  const results = new Map<string, SearchResult>();
  const warnings = new Set<string>();
  for (let page = 1; page <= MAX_PAGES && results.size < limit; page += 1) {
    const answer = await server.page(query, page, signal);
    for (const warning of answer.warnings) warnings.add(warning);
    const before = results.size;
    // Not every engine behind the server knows the operators.
    for (const result of answer.results)
      if (isWanted(result, includeDomains, excludeDomains)) results.set(result.url, result);
    if (answer.results.length === 0 || (results.size === before && page > 1)) break;
  }
  return { results: [...results.values()].slice(0, limit), warnings: [...warnings] };
}

function isWanted({ url }: SearchResult, include: readonly string[], exclude: readonly string[]): boolean {
  const host = URL.parse(url)?.hostname ?? "";
  const isOf = (domain: string) => host === domain.toLowerCase() || host.endsWith(`.${domain.toLowerCase()}`);
  return (include.length === 0 || include.some(isOf)) && !exclude.some(isOf);
}
