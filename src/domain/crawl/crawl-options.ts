import type { StayWithin } from "./crawl-scope.ts";
import type { BrowserOptions, DocumentRequest } from "../page/page-options.ts";
import type { ProxyOptions } from "../proxy/proxy-options.ts";
import type { JsonValue } from "../lane/queue-item.ts";
import { plainRecipe, type Recipe, type StrategyName } from "../run/recipe.ts";

/** The name under which the worker knows how a page of a crawl is got; no handler of a user can have it. */
export const CRAWL_HANDLER = "@crawl";

/** What a crawl was asked for, names as in the API; every default is filled in. */
export interface CrawlOptions extends ProxyOptions {
  urls: readonly string[];
  max_depth: number;
  max_pages: number;
  timeout_minutes: number;
  max_concurrent_articles: number;
  retry_attempts: number;
  partial_results_ok: boolean;
  export_format: string;
  include: readonly string[];
  exclude: readonly string[];
  /** Absent in crawls of earlier versions, as is the next one: no patterns. */
  follow?: readonly string[];
  read?: readonly string[];
  same_site: boolean;
  /** Absent in crawls of earlier versions, as are the next two: all of the site. */
  stay_within?: StayWithin;
  /** False: what pages link to is not followed; only starts and pages of sitemaps are got. */
  follow_links?: boolean;
  /** A pause between two of its pages, which then come one at a time. */
  delay_seconds?: number;
  use_sitemap: boolean;
  /** Of a saved crawl: pages that are as they were give no records. */
  only_changed?: boolean;
  strategy: Exclude<StrategyName, "api_replay">;
  fields: JsonValue;
  items: JsonValue;
  schema: JsonValue;
  /** Absent: of a crawl that began before there was such a thing. */
  extract?: JsonValue;
  /** Whether the article is read, too; null: when no fields are named. */
  article: boolean | null;
  respect_robots: boolean;
  /** These are absent in what is older than they are. */
  document?: DocumentRequest | null;
  browser?: BrowserOptions | null;
  /** Sent to the origin of the starts alone; their values are sealed. */
  header_names?: readonly string[];
  /** Base64 of sealed Credentials; null: none. */
  sealed?: string | null;
  /** A stored session: sent to its own origin, where the crawl begins. */
  session_id?: string | null;
}

/** What a caller says about a crawl: where it begins, and what is not as usual. */
export type CrawlInput = Partial<
  Omit<CrawlOptions, "urls" | "sealed_proxy" | "document" | "browser" | "header_names" | "sealed">
> & {
  /** Where it begins; this or `urls`. */
  url?: string | readonly string[];
  urls?: readonly string[];
  /** Instead of `retry_attempts`: the first try counts, too. */
  max_attempts?: number;
  document?: Partial<DocumentRequest> | null;
  browser?: Partial<BrowserOptions> | null;
  headers?: Readonly<Record<string, string>> | null;
};

/** A crawl carries what it was asked for. */
export interface CrawlSnapshot {
  options: CrawlOptions;
}

/** A saved crawl: how each of its pages is got and read, when it runs, and what it is asked for each time. */
export interface CrawlRecipe extends Recipe {
  crawl: CrawlOptions;
}

/** How the pages of a crawl are got and read. */
export function pageRecipeOf(options: CrawlOptions): Recipe {
  const {
    strategy,
    fields,
    items,
    schema,
    extract = null,
    respect_robots,
    retry_attempts,
    proxy = null,
    sealed_proxy = null,
    document = null,
    browser = null,
    header_names = [],
    sealed = null,
    session_id = null,
  } = options;
  const max_attempts = retry_attempts + 1;
  return plainRecipe(strategy, {
    fields,
    items,
    schema,
    extract,
    respect_robots,
    max_attempts,
    proxy,
    sealed_proxy,
    document,
    browser,
    header_names,
    sealed,
    session_id,
  });
}

/** What stands in a crawl's task besides its address. */
export interface CrawlPayload {
  depth: number;
}
