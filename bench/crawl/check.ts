/** Checks that a crawler fetched every page exactly once, with its content. */
import { factsOf, type PageFacts } from "./site.ts";

export interface CrawlRecord {
  url: string;
  title?: string | null;
  author?: string | null;
  published?: string | null;
  price?: string | null;
  text?: string | null;
  markdown?: string | null;
}

export interface Checked {
  missing: number;
  doubled: number;
  wrong: number;
  /** The problem in words; null: none. */
  complaint: string | null;
}

/** Whether a record matches the page; skipped for crawlers that extract nothing. */
export type Judge = (record: CrawlRecord, facts: PageFacts) => boolean;

export const fieldsAreRight: Judge = (record, facts) =>
  record.title === facts.title &&
  record.author === facts.author &&
  record.published === facts.published &&
  record.price === facts.price;

/** The full text, to its last sentence, without the menu and the list of links. */
export const articleIsRight: Judge = ({ title, text, markdown }, facts) =>
  title === facts.title &&
  [text, markdown].every((form) => (form ?? "").includes(facts.lastSentence) && !(form ?? "").includes("Read on"));

export function check(records: readonly CrawlRecord[], pages: number, judge: Judge | null): Checked {
  const left = new Map<string, PageFacts>();
  for (let page = 0; page < pages; page += 1) left.set(factsOf(page).path, factsOf(page));
  const known = new Set(left.keys());
  let [doubled, wrong] = [0, 0];
  let example: CrawlRecord | null = null;
  for (const record of records) {
    const path = decodeURI(new URL(record.url).pathname);
    const facts = left.get(path);
    if (facts === undefined && known.has(path)) doubled += 1;
    else if (facts === undefined || judge?.(record, facts) === false) {
      wrong += 1;
      example ??= record;
    }
    left.delete(path);
  }
  const parts = [
    left.size === 0 ? "" : `${left.size} pages are missing, such as ${[...left.keys()][0]}`,
    doubled === 0 ? "" : `${doubled} results are doubled`,
    wrong === 0 ? "" : `${wrong} results are wrong, such as ${JSON.stringify(example).slice(0, 300)}`,
  ].filter(Boolean);
  return { missing: left.size, doubled, wrong, complaint: parts.length === 0 ? null : parts.join("; ") };
}
