/** Params shared by templates that crawl, passed to their crawl step. */
import type { JsonValue } from "../../domain/lane/queue-item.ts";

const PATTERNS = { type: "array", items: { type: "string" }, default: [] };

export const CRAWL_SCHEMA: { readonly [key: string]: JsonValue } = {
  type: "object",
  properties: {
    url: {
      title: "URL to crawl",
      anyOf: [
        { type: "string", minLength: 1 },
        { type: "array", items: { type: "string", minLength: 1 }, minItems: 1 },
      ],
      description: "Start URL.",
    },
    max_pages: {
      title: "Maximum pages",
      type: "integer",
      minimum: 1,
      default: 200,
      description: "Maximum number of pages.",
    },
    max_depth: {
      title: "Depth",
      type: "integer",
      minimum: 0,
      default: 3,
      description: "Maximum number of links away from the start.",
    },
    include: { ...PATTERNS, title: "Include", description: "Follow and read only matching pages." },
    exclude: { ...PATTERNS, title: "Exclude", description: "Never follow or read matching pages." },
    follow: {
      ...PATTERNS,
      title: "Also follow",
      description: "Follow matching pages without storing records, such as /page/**.",
    },
    read: { ...PATTERNS, title: "Read only", description: "Store records of matching pages only." },
    use_sitemap: {
      title: "Use sitemaps",
      type: "boolean",
      default: false,
      description: "Also start from the pages listed in the site's sitemaps.",
    },
  },
  required: ["url"],
  additionalProperties: false,
  description: "Crawl that finds the pages, with the settings of POST /scraping/async-scrape.",
};

export const crawlParams: { readonly [key: string]: JsonValue } = Object.fromEntries(
  Object.keys(CRAWL_SCHEMA["properties"] as object).map((name) => [name, `\${{ params.crawl.${name} }}`]),
);

export const SPLIT_SCHEMA: { readonly [key: string]: JsonValue } = {
  type: ["object", "null"],
  additionalProperties: { type: "number", exclusiveMinimum: 0, maximum: 1_000_000 },
  description: "Splits of the dataset and their shares, such as train 0.8 and test 0.2. Empty: no split.",
};
