/** What the page says of itself, for the model. */
import { textOf } from "../dom/text.ts";
import type { PageFacts } from "../facts/page-facts.ts";
import { type JsonObject, typesOf } from "../facts/json-ld.ts";
import { type PageContext, SIGNALS } from "./columns.ts";

export function contextOf(facts: PageFacts): PageContext {
  const types = new Set<string>();
  let told = "";
  for (const entity of facts.jsonLd) {
    for (const type of typesOf(entity)) types.add(type);
    for (const key of ["articleBody", "reviewBody", "text", "description"]) {
      const value = (entity as JsonObject)[key];
      if (typeof value === "string" && told.length < 200_000) told += ` ${value}`;
    }
  }
  told += ` ${facts.meta("og:description") ?? ""} ${facts.meta("description") ?? ""}`;
  const has = (pattern: RegExp) => ([...types].some((type) => pattern.test(type)) ? 1 : 0);
  const kind = (facts.meta("og:type") ?? "").toLowerCase();
  const path = pathOf(facts.url);
  const h1 = facts.document.buckets.heading.find((element) => element.tag.name === "h1");
  const page = [
    has(/(Article|BlogPosting|Report)$/),
    has(/^(Product|ProductGroup|Offer)$/),
    has(/^(ItemList|CollectionPage|SearchResultsPage|OfferCatalog)$/),
    has(/(DiscussionForumPosting|QAPage|Question)$/),
    has(/WebPage$/),
    has(/FAQPage/),
    /article|blog/.test(kind) ? 1 : 0,
    /product/.test(kind) ? 1 : 0,
    /website/.test(kind) ? 1 : 0,
    path.split("/").filter((part) => part !== "").length,
    (path.split("/").findLast((part) => part !== "") ?? "").split(/[-_]/).length,
    /\d{4,}/.test(path) ? 1 : 0,
    /forum|thread|topic|viewtopic|discuss|\/t\/|questions?\//i.test(path) ? 1 : 0,
    /product|\/p\/|\/dp\/|\/item|\/shop/i.test(path) ? 1 : 0,
    /categor|collection|\/c\/|browse|search|list|tag\//i.test(path) ? 1 : 0,
    /docs?[./]|documentation|reference|manual|guide|api|wiki/i.test(facts.url ?? "") ? 1 : 0,
    /\/20\d\d\/|news|blog|article|story/i.test(facts.url ?? "") ? 1 : 0,
    facts.document.buckets.heading.filter((element) => element.tag.name === "h1").length,
    Math.min(50, facts.document.buckets.time.length),
  ];
  return {
    title: (facts.title ?? "").toLowerCase(),
    heading: h1 === undefined ? "" : textOf(h1).toLowerCase(),
    told: told.toLowerCase().replace(/\s+/g, " "),
    signals: Object.fromEntries(SIGNALS.map((name, index) => [name, page[index]!])),
  };
}

function pathOf(url: string | null): string {
  const parsed = url === null ? null : URL.parse(url);
  return parsed === null ? "" : parsed.pathname + parsed.search;
}
