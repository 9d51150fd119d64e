import { hash } from "node:crypto";
import { canonicalJson } from "../../base/canonical-json.ts";
import { type CrawlRecipe, type CrawlSnapshot, wholeCrawlOptions } from "../crawl/crawl-options.ts";
import type { PageSnapshot } from "../run/recipe.ts";

/** A run as its profile needs it. */
interface ProfiledRun {
  kind: string;
  snapshot: unknown;
}

/**
 * Identifies what decides about the fields and the number of records: runs with different values are not compared. null:
 * the run has no rules for fields, such as a crawl of articles.
 */
export function rulesOf({ kind, snapshot }: ProfiledRun): string | null {
  const parts = kind === "crawl" ? crawlRules(snapshot as CrawlSnapshot) : pageRules(snapshot as PageSnapshot);
  return parts === null ? null : hash("sha256", canonicalJson(parts), "hex").slice(0, 16);
}

/** The same for the runs that a job would start. */
export function rulesOfJob({ kind, url, recipe }: { kind: string; url: string; recipe: unknown }): string | null {
  if (kind === "workflow") return null;
  return rulesOf({ kind, snapshot: kind === "crawl" ? { options: (recipe as CrawlRecipe).crawl } : { url, recipe } });
}

function pageRules({ url, recipe }: PageSnapshot): unknown {
  if (recipe === undefined) return null;
  const { fields, items, schema, extract, replay } = recipe;
  return { url, fields, items, schema, extract, replay };
}

function crawlRules(snapshot: CrawlSnapshot): unknown {
  const options = wholeCrawlOptions(snapshot.options);
  const { urls, fields, items, schema, extract = null } = options;
  if (fields === null && extract === null) return null;
  const { max_pages, max_depth, include, exclude, follow, read, same_site, use_sitemap, documents } = options;
  const reach = { max_pages, max_depth, include, exclude, follow, read, same_site, use_sitemap };
  // Only where it differs from the default, so that runs of earlier versions stay comparable.
  return { urls, fields, items, schema, extract, ...reach, ...(documents ? { documents } : {}) };
}

/** The fields of a stored record that rules produced. */
export function ruleFieldsOf(kind: string, data: unknown): Record<string, unknown> {
  if (typeof data !== "object" || data === null || Array.isArray(data)) return { value: data };
  const record = data as Record<string, unknown>;
  if (kind !== "crawl") {
    const { document: _document, ...fields } = record;
    return fields;
  }
  const { fields } = record;
  return typeof fields === "object" && fields !== null ? (fields as Record<string, unknown>) : {};
}
