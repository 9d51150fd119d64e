import { without } from "../../base/without.ts";
import { crawlOptionsOf } from "../../domain/crawl/crawl-options.ts";
import type { RunRecord } from "../../store/ports/port.ts";
import type { ResultView } from "./view.ts";

/** Keys that a page of a crawl may have besides the results of its rules; the second list only with `article`. */
export const OF_EVERY_PAGE = ["url", "depth", "title", "document", "duplicate_of", "unchanged", "change", "warning"];
export const OF_ARTICLES = ["text", "markdown", "language", "word_count", "content_hash", "links"];

/**
 * Flat crawl results for tables: results of rules are top-level keys, and the URL appears once. A rule whose name is
 * taken gets another name, the same on all pages: nothing is overwritten.
 */
export async function* flatResults(run: RunRecord, results: AsyncIterable<ResultView>): AsyncGenerator<ResultView> {
  const { article } = crawlOptionsOf(run);
  const taken = new Set([...OF_EVERY_PAGE, ...(article === true ? OF_ARTICLES : [])]);
  for await (const result of results) {
    const { fields } = result.data;
    const found = typeof fields === "object" && fields !== null ? (fields as Record<string, unknown>) : {};
    const beside = Object.entries(found).map(([name, value]) => [columnOf(name, taken, found), value]);
    const data = {
      ...without(result.data, "url", "fields"),
      ...(Object.fromEntries(beside) as Record<string, unknown>),
    };
    yield { ...result, data };
  }
}

function columnOf(name: string, taken: ReadonlySet<string>, found: Readonly<Record<string, unknown>>): string {
  let column = name;
  while (taken.has(column) || (column !== name && column in found)) column = `fields_${column}`;
  return column;
}
