/** What a crawl makes of what was read from a page. */
import { hash } from "node:crypto";
import { documentOf } from "../../../domain/page/page-options.ts";
import type { JsonValue } from "../../../domain/lane/queue-item.ts";
import type { Extraction } from "../../../extract/page.ts";
import type { CrawlRun } from "./crawl-runs.ts";
import type { PagePayload } from "../page-copies.ts";

/** Pages with fewer words may say the same without being the same. */
const TELLING_WORDS = 20;

/** What a page says: its article, or what the rules found. What is hardly anything is not telling. */
export function contentOf(
  { options }: CrawlRun,
  { article, records, title, source }: Extraction,
): PagePayload["content"] {
  // A model may say the same in other words each time; the page itself does not.
  if (source !== null) return { hash: source.contentHash, isTelling: source.wordCount >= TELLING_WORDS };
  if (records.length === 0) return null;
  if (!givesFields(options) && article !== null)
    return { hash: article.contentHash, isTelling: article.wordCount >= TELLING_WORDS };
  const said = JSON.stringify([title, records, article?.contentHash]);
  const isTelling = records.some((record) => Object.values(record).some(isSomething));
  return { hash: hash("sha256", said, "hex"), isTelling };
}

/** What rules or an extractor found stands under `fields`. */
function givesFields({ fields, extract = null }: CrawlRun["options"]): boolean {
  return fields !== null || extract !== null;
}

function isSomething(value: JsonValue): boolean {
  return value !== null && value !== "" && !(Array.isArray(value) && value.length === 0);
}

/** Flat articles; what rules found stands under `fields`. */
export function itemsOf(
  { options, recipe }: CrawlRun,
  { title, article, links }: Extraction,
  url: string,
  depth: number,
  records: readonly Record<string, JsonValue>[],
): Record<string, JsonValue>[] {
  const about = { url, depth };
  const isInDocument = documentOf(recipe) !== null && options.article !== true;
  const text =
    article === null
      ? {}
      : isInDocument
        ? aboutOf(article)
        : { text: article.text, markdown: article.markdown, ...aboutOf(article), links: linkedFrom(links) };
  if (givesFields(options)) return records.map((fields) => ({ ...about, title, ...text, fields }));
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

const MOST_LINKS = 1000;

/** The addresses that a page links to, each once. */
function linkedFrom(links: Extraction["links"]): string[] {
  return [...new Set(links.map(({ url }) => url))].slice(0, MOST_LINKS);
}

function aboutOf(article: NonNullable<Extraction["article"]>): Record<string, JsonValue> {
  return {
    language: article.language,
    word_count: article.wordCount,
    content_hash: article.contentHash,
  };
}
