/** Turns what was read from a page into records of the crawl. */
import { hash } from "node:crypto";
import { documentWarning } from "../../../domain/page/document-warning.ts";
import { documentOf } from "../../../domain/page/page-options.ts";
import type { JsonValue } from "../../../domain/lane/queue-item.ts";
import type { Extraction } from "../../../extract/page.ts";
import type { CrawlRun } from "./crawl-runs.ts";
import type { PagePayload } from "../page-copies.ts";

/** Pages with fewer words may have the same text without being duplicates. */
const SUBSTANTIAL_WORDS = 20;

/** The content of a page: its article, or what the rules found. Very short content is not substantial. */
export function contentOf(
  { options }: CrawlRun,
  { article, records, title, source }: Extraction,
): PagePayload["content"] {
  // A model may word the same content differently each time; the page itself does not.
  if (source !== null) return { hash: source.contentHash, isSubstantial: source.wordCount >= SUBSTANTIAL_WORDS };
  if (records.length === 0) return null;
  if (!hasFields(options) && article !== null)
    return { hash: article.contentHash, isSubstantial: article.wordCount >= SUBSTANTIAL_WORDS };
  const text = JSON.stringify([title, records, article?.contentHash]);
  const isSubstantial = records.some((record) => Object.values(record).some(isNonEmpty));
  return { hash: hash("sha256", text, "hex"), isSubstantial };
}

function hasFields({ fields, extract = null }: CrawlRun["options"]): boolean {
  return fields !== null || extract !== null;
}

function isNonEmpty(value: JsonValue): boolean {
  return value !== null && value !== "" && !(Array.isArray(value) && value.length === 0);
}

/** Flat articles; results of rules go below `fields`. */
export function itemsOf(
  { options, recipe }: CrawlRun,
  { title, article, linkUrls = [] }: Extraction,
  url: string,
  depth: number,
  records: readonly Record<string, JsonValue>[],
  document?: { type: string; truncated: string | null },
): Record<string, JsonValue>[] {
  const about = { url, depth, ...(document === undefined ? {} : documentFacts(document)) };
  const isInDocument = documentOf(recipe) !== null && options.article !== true;
  const text =
    article === null
      ? {}
      : isInDocument
        ? articleFacts(article)
        : { text: article.text, markdown: article.markdown, ...articleFacts(article), links: linkUrls };
  if (hasFields(options)) return records.map((fields) => ({ ...about, title, ...text, fields }));
  const [known = {}] = records;
  return [
    {
      ...about,
      title: known["title"] ?? title,
      author: known["author"] ?? null,
      published_at: known["published_at"] ?? null,
      ...text,
    },
  ];
}

function documentFacts(document: { type: string; truncated: string | null }): Record<string, JsonValue> {
  const warning = documentWarning(document);
  return { document_type: document.type, ...(warning === null ? {} : { document_warning: warning }) };
}

function articleFacts(article: NonNullable<Extraction["article"]>): Record<string, JsonValue> {
  return {
    language: article.language,
    word_count: article.wordCount,
    content_hash: article.contentHash,
  };
}
