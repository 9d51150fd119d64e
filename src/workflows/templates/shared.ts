/** What templates that crawl ask for, and hand on to their crawl step. */
import type { JsonValue } from "../../domain/queue-item.ts";

const PATTERNS = { type: "array", items: { type: "string" }, default: [] };

export const CRAWL_SCHEMA: { readonly [key: string]: JsonValue } = {
  type: "object",
  properties: {
    url: {
      anyOf: [
        { type: "string", minLength: 1 },
        { type: "array", items: { type: "string", minLength: 1 }, minItems: 1 },
      ],
      description: "Where it begins.",
    },
    max_pages: { type: "integer", minimum: 1, default: 200, description: "How many pages are read at most." },
    max_depth: { type: "integer", minimum: 0, default: 3, description: "How many links away from the beginning." },
    include: { ...PATTERNS, description: "Only pages that one of these patterns matches." },
    exclude: { ...PATTERNS, description: "No pages that one of these patterns matches." },
    use_sitemap: { type: "boolean", default: false, description: "Pages that the site's sitemaps name are read, too." },
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
  description: "Parts of the dataset and their shares; null: it is one.",
};
