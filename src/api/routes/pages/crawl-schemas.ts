/** Crawl options, the same for direct and saved crawls. */
import type { TOptional, TSchema, TUnsafe } from "typebox";
import { CRAWL_START, CRAWL_STARTS, crawlSchemas, type CrawlSettings } from "../../../domain/crawl/crawl-settings.ts";
import { EXPORT_FORMATS } from "../../../exporters/registry.ts";
import { oneOf, strict } from "../../schemas.ts";
import { Extract, Fields, Items, RecordSchema } from "../system/reading-schemas.ts";
import { Headers, SessionRef } from "./header-schemas.ts";
import { BrowserBody, BrowserShown, DocumentBody, DocumentShown } from "./page-option-schemas.ts";
import { Proxy } from "../sites/proxy-schemas.ts";
import { Type } from "../../type.ts";

const Addresses = Type.Unsafe<string[]>({ ...CRAWL_STARTS });
const Starts = Type.Union([Type.Unsafe<string>({ ...CRAWL_START }), Addresses], {
  description: "pages, feeds (RSS, Atom, JSON), sitemaps or lists of URLs",
});

/** As the domain declares them. */
const declared = crawlSchemas() as unknown as { [K in keyof CrawlSettings]: TUnsafe<CrawlSettings[K]> };

const settings = {
  ...declared,
  export_format: oneOf(EXPORT_FORMATS),
  strategy: oneOf(["auto", "http", "browser"]),
  fields: Fields,
  items: Items,
  schema: RecordSchema,
  extract: Extract,
  proxy: Proxy,
  session_id: SessionRef,
};

function optional<T extends Record<string, TSchema>>(keys: T): { [K in keyof T]: TOptional<T[K]> } {
  return Object.fromEntries(Object.entries(keys).map(([name, schema]) => [name, Type.Optional(schema)])) as {
    [K in keyof T]: TOptional<T[K]>;
  };
}

/** In requests. */
const crawlKeys = { ...settings, document: DocumentBody, browser: BrowserBody, headers: Headers };

const starts = {
  url: Type.Optional(Starts),
  urls: Type.Optional(
    Type.Unsafe<string[]>({ ...Addresses, description: "several start URLs; set either this or url" }),
  ),
};

const Name = Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: "name" }));

export const CrawlBody = strict({ name: Name, ...starts, ...optional(crawlKeys) });

/** In a job, the URL may be in `target_url`. */
export const JobCrawlBody = strict({ ...starts, ...optional(crawlKeys) });

/** In responses, with defaults filled in. */
export const JobCrawl = strict({
  url: Starts,
  ...settings,
  document: DocumentShown,
  browser: BrowserShown,
  header_names: Type.Array(Type.String(), { description: "names of the headers it sends; values are not shown" }),
});
