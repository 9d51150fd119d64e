import type { JsonValue } from "./queue-item.ts";
import type { StrategyName } from "./recipe.ts";

/** What a crawl was asked for, names as in the API; every default is filled in. */
export interface CrawlOptions {
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
  same_site: boolean;
  use_sitemap: boolean;
  strategy: Exclude<StrategyName, "api_replay">;
  fields: JsonValue;
  items: JsonValue;
  schema: JsonValue;
  /** Whether the article is read, too; null: when no fields are named. */
  article: boolean | null;
  respect_robots: boolean;
}

/** A crawl carries what it was asked for. */
export interface CrawlSnapshot {
  options: CrawlOptions;
}

/** What stands in a crawl's task besides its address. */
export interface CrawlPayload {
  depth: number;
}
