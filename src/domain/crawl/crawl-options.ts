import { CRAWL_DEFAULTS, type CrawlSettings, type StoredCrawlSettings } from "./crawl-settings.ts";
import type { BrowserOptions, DocumentRequest } from "../page/page-options.ts";
import type { ProxyOptions } from "../proxy/proxy-options.ts";
import type { JsonValue } from "../lane/queue-item.ts";
import { plainRecipe, type Recipe, type StrategyName } from "../run/recipe.ts";

/** The name under which the worker knows how a page of a crawl is got; no handler of a user can have it. */
export const CRAWL_HANDLER = "@crawl";

/** The options of a crawl, names as in the API; every default is filled in. */
export interface CrawlOptions extends ProxyOptions, StoredCrawlSettings {
  urls: readonly string[];
  export_format: string;
  strategy: Exclude<StrategyName, "api_replay">;
  fields: JsonValue;
  items: JsonValue;
  schema: JsonValue;
  /** Absent: of a crawl that began before there was such a thing. */
  extract?: JsonValue;
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

/** What a caller says about a crawl: where it begins, and what differs from the defaults. */
export type CrawlInput = Partial<
  Omit<CrawlOptions, "urls" | "sealed_proxy" | "document" | "browser" | "header_names" | "sealed">
> & {
  /** Where it begins; this or `urls`. */
  url?: string | readonly string[];
  urls?: readonly string[];
  /** Instead of `retry_attempts`: the first attempt counts, too. */
  max_attempts?: CrawlSettings["max_attempts"];
  document?: Partial<DocumentRequest> | null;
  browser?: Partial<BrowserOptions> | null;
  headers?: Readonly<Record<string, string>> | null;
};

/** What is stored of a crawl. Earlier versions knew fewer settings. */
export type StoredCrawlOptions = Omit<CrawlOptions, keyof StoredCrawlSettings> & Partial<StoredCrawlSettings>;

export interface CrawlSnapshot {
  options: StoredCrawlOptions;
}

/** The options of a stored crawl, with the defaults of settings that it does not have. */
export function wholeCrawlOptions(stored: StoredCrawlOptions): CrawlOptions {
  return { ...CRAWL_DEFAULTS, ...stored };
}

/** The options of a run that is a crawl. */
export function crawlOptionsOf({ snapshot }: { snapshot: unknown }): CrawlOptions {
  return wholeCrawlOptions((snapshot as CrawlSnapshot).options);
}

/** A saved crawl: how each of its pages is got and read, when it runs, and what it is asked for each time. */
export interface CrawlRecipe extends Recipe {
  crawl: StoredCrawlOptions;
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
