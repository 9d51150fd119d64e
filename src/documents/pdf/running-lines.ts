/** Headers and footers that repeat on most pages, and page numbers. */
import type { Segment } from "./pieces.ts";

interface RunningLines {
  /** Whether to leave the segment out of this page; the first page with a text keeps it. */
  has(page: number, segment: Segment): boolean;
}

const MIN_PAGES = 3;
/** Rows from the top and the bottom that may repeat. */
const EDGE = 3;

export function repeatedLines(pages: readonly (readonly Segment[])[]): RunningLines {
  const seen = new Map<string, { count: number; first: number }>();
  for (const [page, segments] of pages.entries())
    for (const key of new Set(edges(segments).map(keyOf))) {
      const known = seen.get(key);
      if (known === undefined) seen.set(key, { count: 1, first: page });
      else known.count += 1;
    }
  const least = Math.max(MIN_PAGES, Math.ceil(pages.length / 2));
  return {
    has(page, segment) {
      const known = seen.get(keyOf(segment));
      if (known === undefined || known.count < least) return false;
      return page !== known.first || isPageNumber(segment.text);
    },
  };
}

function edges(segments: readonly Segment[]): Segment[] {
  const rows = [...new Set(segments.map(({ y }) => Math.round(y)))].sort((a, b) => a - b);
  const outer = new Set([...rows.slice(0, EDGE), ...rows.slice(-EDGE)]);
  return segments.filter(({ y }) => outer.has(Math.round(y)));
}

/** The same text at the same height, whatever the page's number. */
function keyOf({ text, y }: Segment): string {
  return `${Math.round(y / 2)} ${text.trim().replace(/\d+/g, "#").toLowerCase()}`;
}

function isPageNumber(text: string): boolean {
  return /^\W*(?:page|seite|p\.)?\W*\d+\W*(?:(?:of|von|\/)\W*\d+)?\W*$/i.test(text);
}
