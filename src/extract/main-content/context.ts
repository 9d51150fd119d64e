/** Page-level evidence from the head, structured data and the URL. */
import type { Document } from "../dom/nodes.ts";
import { squeeze, textOf } from "../dom/text.ts";
import { type JsonObject, typesOf } from "../facts/json-ld.ts";
import type { PageContext } from "./columns.ts";

/** The part of PageFacts that is used here. */
export interface PageSource {
  document: Document;
  url: string | null;
  title: string | null;
  jsonLd: JsonObject[];
  meta(...names: string[]): string | null;
}

const MAX_CHARACTERS = 200_000;

export function contextOf(source: PageSource): PageContext {
  const { heading } = source.document.buckets;
  const first = heading.find((element) => element.tag.name === "h1");
  return {
    title: (source.title ?? "").toLowerCase(),
    heading: first === undefined ? "" : textOf(first).toLowerCase(),
    described: descriptionsOf(source),
    names: namesIn(source.jsonLd),
    signals: { ...dataSignals(source), ...addressSignals(source.url), ...headingSignals(source) },
  };
}

/** Descriptions in structured data and meta tags. */
function descriptionsOf(source: PageSource): string {
  const texts = source.jsonLd.flatMap((entity) =>
    ["articleBody", "reviewBody", "text", "description"].flatMap((key) =>
      typeof entity[key] === "string" ? entity[key] : [],
    ),
  );
  const described = texts.join(" ").slice(0, MAX_CHARACTERS);
  return squeeze(
    `${described} ${source.meta("og:description") ?? ""} ${source.meta("description") ?? ""}`,
  ).toLowerCase();
}

const NAMED = new Set(["name", "headline", "price", "sku", "brand", "category", "model", "color"]);
const MAX_NAMES = 2_000;

/** Names and other short values anywhere in structured data. */
function namesIn(entities: readonly JsonObject[]): Set<string> {
  const names = new Set<string>();
  const visit = (value: unknown, key: string, depth: number): void => {
    if (names.size >= MAX_NAMES || depth > 8) return;
    if (typeof value === "string" || typeof value === "number") {
      const text = squeeze(String(value)).toLowerCase();
      if (NAMED.has(key) && text.length > 2) names.add(text);
    } else if (Array.isArray(value)) for (const part of value) visit(part, key, depth + 1);
    else if (typeof value === "object" && value !== null)
      for (const [name, part] of Object.entries(value)) visit(part, name, depth + 1);
  };
  visit(entities, "", 0);
  return names;
}

const TYPES: Readonly<Record<string, RegExp>> = {
  ld_article: /(Article|BlogPosting|Report)$/,
  ld_product: /^(Product|ProductGroup|Offer)$/,
  ld_list: /^(ItemList|CollectionPage|SearchResultsPage|OfferCatalog)$/,
  ld_forum: /(DiscussionForumPosting|QAPage|Question)$/,
  ld_page: /WebPage$/,
  ld_faq: /FAQPage/,
};
const OPEN_GRAPH: Readonly<Record<string, RegExp>> = {
  og_article: /article|blog/,
  og_product: /product/,
  og_website: /website/,
};

function dataSignals(source: PageSource): Record<string, number> {
  const types = new Set(source.jsonLd.flatMap((entity) => typesOf(entity)));
  const kind = (source.meta("og:type") ?? "").toLowerCase();
  const named = (patterns: typeof TYPES, texts: readonly string[]) =>
    Object.entries(patterns).map(([name, pattern]) => [name, Number(texts.some((text) => pattern.test(text)))]);
  return Object.fromEntries([...named(TYPES, [...types]), ...named(OPEN_GRAPH, [kind])]);
}

const PATHS: Readonly<Record<string, RegExp>> = {
  path_digits: /\d{4,}/,
  path_forum: /forum|thread|topic|viewtopic|discuss|\/t\/|questions?\//i,
  path_product: /product|\/p\/|\/dp\/|\/item|\/shop/i,
  path_list: /categor|collection|\/c\/|browse|search|list|tag\//i,
};
const ADDRESSES: Readonly<Record<string, RegExp>> = {
  path_docs: /docs?[./]|documentation|reference|manual|guide|api|wiki/i,
  path_article: /\/20\d\d\/|news|blog|article|story/i,
};

function addressSignals(address: string | null): Record<string, number> {
  const url = address === null ? null : URL.parse(address);
  const path = url === null ? "" : url.pathname + url.search;
  const parts = path.split("/").filter((part) => part !== "");
  return {
    path_depth: parts.length,
    path_words: (parts.at(-1) ?? "").split(/[-_]/).length,
    ...Object.fromEntries(Object.entries(PATHS).map(([name, pattern]) => [name, Number(pattern.test(path))])),
    ...Object.fromEntries(
      Object.entries(ADDRESSES).map(([name, pattern]) => [name, Number(pattern.test(address ?? ""))]),
    ),
  };
}

function headingSignals({ document: { buckets } }: PageSource): Record<string, number> {
  return {
    h1s: buckets.heading.filter((element) => element.tag.name === "h1").length,
    times: Math.min(50, buckets.time.length),
  };
}
