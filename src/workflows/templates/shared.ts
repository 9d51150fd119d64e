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
      description: "Where it begins.",
    },
    max_pages: {
      title: "Pages at most",
      type: "integer",
      minimum: 1,
      default: 200,
      description: "How many pages are read at most.",
    },
    max_depth: {
      title: "Depth",
      type: "integer",
      minimum: 0,
      default: 3,
      description: "How many links away from the beginning.",
    },
    include: { ...PATTERNS, title: "Only pages like", description: "Only pages that one of these patterns matches." },
    exclude: { ...PATTERNS, title: "No pages like", description: "No pages that one of these patterns matches." },
    follow: {
      ...PATTERNS,
      title: "Also follow",
      description: "Pages that only lead to others, such as /page/**: they give no records.",
    },
    read: { ...PATTERNS, title: "Read only", description: "Only pages that one of these matches give records." },
    use_sitemap: {
      title: "Use sitemaps",
      type: "boolean",
      default: false,
      description: "Pages that the site's sitemaps name are read, too.",
    },
  },
  required: ["url"],
  additionalProperties: false,
  description: "The pages to look at, in the words of POST /scraping/async-scrape.",
};

export const crawlParams: { readonly [key: string]: JsonValue } = Object.fromEntries(
  Object.keys(CRAWL_SCHEMA["properties"] as object).map((name) => [name, `\${{ params.crawl.${name} }}`]),
);

export const SPLIT_SCHEMA: { readonly [key: string]: JsonValue } = {
  type: ["object", "null"],
  additionalProperties: { type: "number", exclusiveMinimum: 0, maximum: 1_000_000 },
  description: "Parts of the dataset and their shares, such as train 0.8 and test 0.2. Without any it is not divided.",
};
