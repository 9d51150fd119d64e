import type { MonitorOptions } from "../monitor/options.ts";
import type { TrackingRequest } from "../monitor/tracking.ts";
import { CRAWL_DEFAULTS, type CrawlSettings, readsDocuments, type StoredCrawlSettings } from "./crawl-settings.ts";
import type { BrowserOptions, DocumentRequest } from "../page/page-options.ts";
import type { ProxyOptions } from "../proxy/proxy-options.ts";
import type { JsonValue } from "../lane/queue-item.ts";
import { plainRecipe, type Recipe, type StrategyName } from "../run/recipe.ts";

/** Handler name of crawl pages; the `@` keeps user handlers from having it. */
export const CRAWL_HANDLER = "@crawl";

/** The options of a crawl, names as in the API; every default is filled in. */
export interface CrawlOptions extends ProxyOptions, StoredCrawlSettings {
  urls: readonly string[];
  export_format: string;
  strategy: Exclude<StrategyName, "api_replay">;
  fields: JsonValue;
  items: JsonValue;
  schema: JsonValue;
  /** The optional settings are absent in crawls stored by earlier versions. */
  extract?: JsonValue;
  document?: DocumentRequest | null;
  browser?: BrowserOptions | null;
  /** Sent to the origin of the starts only; their values are sealed. */
  header_names?: readonly string[];
  /** Base64 of sealed Credentials; null: none. */
  sealed?: string | null;
  /** A stored session, sent to its own origin only, where the crawl begins. */
  session_id?: string | null;
}

/** A request for a crawl: its starts, and what differs from the defaults. */
export type CrawlInput = Partial<
  Omit<CrawlOptions, "urls" | "sealed_proxy" | "document" | "browser" | "header_names" | "sealed">
> & {
  /** Start URLs; either this or `urls`. */
  url?: string | readonly string[];
  urls?: readonly string[];
  /** Instead of `retry_attempts`; includes the first attempt. */
  max_attempts?: CrawlSettings["max_attempts"];
  document?: Partial<DocumentRequest> | null;
  browser?: Partial<BrowserOptions> | null;
  headers?: Readonly<Record<string, string>> | null;
};

/** As stored; earlier versions had fewer settings. */
export type StoredCrawlOptions = Omit<CrawlOptions, keyof StoredCrawlSettings> & Partial<StoredCrawlSettings>;

export interface CrawlSnapshot {
  options: StoredCrawlOptions;
  /** Of a saved crawl. */
  monitor?: MonitorOptions;
  tracking?: TrackingRequest;
}

/** Adds the defaults of settings that a stored crawl does not have. */
export function wholeCrawlOptions(stored: StoredCrawlOptions): CrawlOptions {
  return { ...CRAWL_DEFAULTS, documents: readsDocuments(stored), ...stored };
}

export function crawlOptionsOf({ snapshot }: { snapshot: unknown }): CrawlOptions {
  return wholeCrawlOptions((snapshot as CrawlSnapshot).options);
}

/** A saved crawl: how its pages are fetched and read, its schedule, and the options of each run. */
export interface CrawlRecipe extends Recipe {
  crawl: StoredCrawlOptions;
}

/** How the pages of a crawl are fetched and read. */
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

/** Payload of a crawl task. */
export interface CrawlPayload {
  depth: number;
}
