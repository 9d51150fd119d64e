/** What a crawl is asked for, the same for one that begins at once and for one that is saved. */
import type { TOptional, TSchema } from "typebox";
import { SCOPE_LIMITS, STAY_WITHIN } from "../../domain/crawl-scope.ts";
import { EXPORT_FORMATS } from "../../exporters/registry.ts";
import { nullable, oneOf, strict } from "../schemas.ts";
import { Extract, Fields, Items, RecordSchema } from "./reading-schemas.ts";
import { Headers } from "./header-schemas.ts";
import { BrowserBody, BrowserShown, DocumentBody, DocumentShown } from "./page-wish-schemas.ts";
import { Proxy } from "./proxy-schemas.ts";
import { Type } from "../type.ts";

const Patterns = Type.Array(Type.String({ minLength: 1, maxLength: 2000 }), { maxItems: 200 });
const Address = Type.String({ minLength: 1, maxLength: 8192 });
const Addresses = Type.Array(Address, { minItems: 1, maxItems: SCOPE_LIMITS.starts });
const Starts = Type.Union([Address, Addresses], {
  description: "pages, feeds (RSS, Atom, JSON), sitemaps or lists of addresses",
});

const settings = {
  max_depth: Type.Integer({ minimum: 0, maximum: 1000, description: "link hops; 0 is that page alone, 1000 the most" }),
  max_pages: Type.Integer({ minimum: 1, maximum: 10_000_000 }),
  timeout_minutes: Type.Number({ exclusiveMinimum: 0, maximum: 100_000 }),
  max_concurrent_articles: Type.Integer({ minimum: 1, maximum: 10_000 }),
  retry_attempts: Type.Integer({ minimum: 0, maximum: 1000, description: "tries after the first" }),
  partial_results_ok: Type.Boolean(),
  export_format: oneOf(EXPORT_FORMATS),
  include: Patterns,
  exclude: Patterns,
  same_site: Type.Boolean(),
  stay_within: oneOf(STAY_WITHIN, {
    description: "with same_site: all of the site, the start's host, or addresses of it that begin as the start does",
  }),
  follow_links: Type.Boolean({ description: "false: only the starts, and the pages that sitemaps name" }),
  delay_seconds: Type.Number({
    minimum: 0,
    maximum: 3600,
    description: "a pause between two pages of this crawl, which then come one at a time",
  }),
  use_sitemap: Type.Boolean({ description: "also begin with the pages that the site's sitemaps name" }),
  only_changed: Type.Boolean({
    description: "of a saved crawl: pages that are as the run before found them give no records",
  }),
  strategy: oneOf(["auto", "http", "browser"]),
  fields: Fields,
  items: Items,
  schema: RecordSchema,
  extract: Extract,
  article: nullable(Type.Boolean()),
  respect_robots: Type.Boolean(),
  proxy: Proxy,
};

function optional<T extends Record<string, TSchema>>(keys: T): { [K in keyof T]: TOptional<T[K]> } {
  return Object.fromEntries(Object.entries(keys).map(([name, schema]) => [name, Type.Optional(schema)])) as {
    [K in keyof T]: TOptional<T[K]>;
  };
}

/** As they are sent. */
const given = { ...settings, document: DocumentBody, browser: BrowserBody, headers: Headers };

const starts = {
  url: Type.Optional(Starts),
  urls: Type.Optional(Type.Unsafe<string[]>({ ...Addresses, description: "the same as a list: this or url" })),
};

export const CrawlBody = strict({ ...starts, ...optional(given) });

/** In a job: the address may stand in `target_url`. */
export const JobCrawlBody = strict({ ...starts, ...optional(given) });

/** As it is shown, with all that was not said. */
export const JobCrawl = strict({
  url: Starts,
  ...settings,
  document: DocumentShown,
  browser: BrowserShown,
  header_names: Type.Array(Type.String(), { description: "headers that it sends; their values are not shown" }),
});
