/**
 * The settings of a crawl as JSON schemas, declared once: the API's body, the workflow step `crawl` and the MCP tool
 * `crawl_start` are made of them.
 */
import { SCOPE_LIMITS, STAY_WITHIN } from "./crawl-scope.ts";

const patterns = (description: string) =>
  ({ type: "array", items: { type: "string", minLength: 1, maxLength: 2000 }, maxItems: 200, description }) as const;

export const CRAWL_START = { type: "string", minLength: 1, maxLength: 8192 } as const;
export const CRAWL_STARTS = { type: "array", items: CRAWL_START, minItems: 1, maxItems: SCOPE_LIMITS.starts } as const;

export const CRAWL_SETTINGS = {
  max_depth: {
    type: "integer",
    minimum: 0,
    maximum: 1000,
    description: "link hops; 0 is that page alone, 1000 the most",
  },
  max_pages: { type: "integer", minimum: 1, maximum: 10_000_000 },
  timeout_minutes: { type: "number", exclusiveMinimum: 0, maximum: 100_000 },
  max_concurrent_articles: { type: "integer", minimum: 1, maximum: 10_000 },
  retry_attempts: { type: "integer", minimum: 0, maximum: 1000, description: "tries after the first" },
  max_attempts: {
    type: "integer",
    minimum: 1,
    maximum: 1001,
    description: "tries in all, as in jobs: one more than retry_attempts, and given instead of it",
  },
  partial_results_ok: { type: "boolean" },
  include: patterns("pages to follow and to read, such as /blog/**; the starts are always followed"),
  exclude: patterns("pages to leave, whatever the other patterns say"),
  follow: patterns(
    "more pages whose links are followed, such as /page/**; they give no records unless include or read match them",
  ),
  read: patterns("pages that give records; without include and follow, every page of the site is followed"),
  same_site: { type: "boolean" },
  stay_within: {
    type: "string",
    enum: STAY_WITHIN,
    description: "with same_site: all of the site, the start's host, or addresses of it that begin as the start does",
  },
  follow_links: { type: "boolean", description: "false: only the starts, and the pages that sitemaps name" },
  delay_seconds: {
    type: "number",
    minimum: 0,
    maximum: 3600,
    description: "a pause between two pages of this crawl, which then come one at a time",
  },
  use_sitemap: { type: "boolean", description: "also begin with the pages that the site's sitemaps name" },
} as const;

type SettingTypes = { integer: number; number: number; boolean: boolean; array: string[] };
type ValueOf<S> = S extends { enum: readonly (infer Value)[] }
  ? Value
  : S extends { type: infer T extends keyof SettingTypes }
    ? SettingTypes[T]
    : never;

/** What the settings hold. */
export type CrawlSettings = { -readonly [K in keyof typeof CRAWL_SETTINGS]: ValueOf<(typeof CRAWL_SETTINGS)[K]> };
