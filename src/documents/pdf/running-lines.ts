/** Headers and footers that repeat on most pages, and page numbers. */
import { readingRegions } from "./columns.ts";
import type { Segment } from "./pieces.ts";
import { type Row, rowsOf, tableAt } from "./tables.ts";

const MIN_PAGES = 3;
/** Rows from the top and the bottom that may repeat. */
const EDGE = 3;
const BESIDE = 12;
/** Pages before the first number, such as a cover and a table of contents. */
const MAX_OFFSET = 30;

interface EdgeRow {
  page: number;
  row: Row;
  /** The same for rows that are the same on their pages: a page number is replaced by its distance to the page. */
  key: string;
  /** Of the page. */
  number: Segment | null;
}

/** What to leave out. A repeated text stays on its first page; page numbers stay nowhere. */
export function repeatedLines(pages: readonly (readonly Segment[])[]): ReadonlySet<Segment> {
  const groups = Map.groupBy(
    pages.flatMap((segments, page) => edgeRows(segments, page)),
    ({ key }) => key,
  );
  const least = Math.max(MIN_PAGES, Math.ceil(pages.length / 2));
  const running = [...groups.values()].filter((group) => new Set(group.map(({ page }) => page)).size >= least);
  // A header that says which page it is on is no row of the table below it.
  const sure = new Set(
    running.flat().flatMap(({ row, number }) => (number !== null && isNamedNumber(number.text) ? row : [])),
  );
  const inTable = new Set<Segment>();
  for (const page of new Set(running.flat().map((one) => one.page)))
    for (const edge of edgesOf(pages[page]!.filter((segment) => !sure.has(segment)))) addTables(edge, inTable);
  const left = new Set<Segment>();
  for (const group of running) {
    if (group.some(({ row }) => row.some((segment) => inTable.has(segment)))) continue;
    const first = Math.min(...group.map(({ page }) => page));
    for (const { page, row, number } of group)
      for (const segment of row) if (page !== first || segment === number) left.add(segment);
  }
  return left;
}

function edgeRows(segments: readonly Segment[], page: number): EdgeRow[] {
  const rows = rowsOf(segments);
  return rows.flatMap((row, index) => {
    const fromEdge = Math.min(index, rows.length - 1 - index);
    const is = fromEdge < EDGE ? readRow(row, page, fromEdge) : null;
    return is === null ? [] : [{ page, row, ...is }];
  });
}

/** Null: the row has data, which may be the same on several pages. */
function readRow(row: Row, page: number, fromEdge: number): Pick<EdgeRow, "key" | "number"> | null {
  const numbers = row.filter(({ text }) => isPageNumber(text));
  const [number = null] = numbers;
  const others = row.filter((segment) => segment !== number);
  if (numbers.length > 1 || others.some(({ text }) => isData(text))) return null;
  const height = Math.round(row[0]!.y / 2);
  const texts = row.map((segment) => {
    const text = segment.text.trim().toLowerCase();
    return segment === number ? text.replace(/\d+/, (digits) => `#${Number(digits) - page}`) : text;
  });
  if (number !== null && !isNamedNumber(number.text)) {
    // A number alone may be a value as well: beside a text it is that of the page only in the outermost row.
    const offset = Number(/\d+/.exec(number.text)![0]) - page;
    if (fromEdge > (others.length === 0 ? 1 : 0)) return null;
    if (others.length > 0 && (Math.abs(offset) > MAX_OFFSET || others.some(({ text }) => /[:#]\s*$/.test(text))))
      return null;
  }
  return { key: `${height} ${texts.join(" | ")}`, number };
}

/** The rows at the top and at the bottom, with enough of those beside them to see whether they are of a table. */
function edgesOf(segments: readonly Segment[]): Segment[][] {
  const rows = rowsOf(segments);
  if (rows.length <= 2 * BESIDE) return [[...segments]];
  return [rows.slice(0, BESIDE).flat(), rows.slice(-BESIDE).flat()];
}

function addTables(segments: readonly Segment[], found: Set<Segment>): void {
  for (const region of readingRegions(segments)) {
    const rows = rowsOf(region);
    for (let index = 0; index < rows.length;) {
      const taken = tableAt(rows, index)?.taken ?? 0;
      for (const row of rows.slice(index, index + taken)) for (const segment of row) found.add(segment);
      index += Math.max(1, taken);
    }
  }
}

/** Amounts, and values behind the name of a field. */
function isData(text: string): boolean {
  return !/\p{L}/u.test(text) || /:\s*\S|\d[.,]\d{2}(?!\d)|[€$£¥%]/u.test(text);
}

function isPageNumber(text: string): boolean {
  return /^\W*(?:page|seite|p\.)?\W*\d{1,6}\W*(?:(?:of|von|\/)\W*\d+)?\W*$/i.test(text);
}

/** `Page 3`, `3 of 10`: not a number alone. */
function isNamedNumber(text: string): boolean {
  return isPageNumber(text) && /page|seite|p\.|\d\W*(?:of|von|\/)\W*\d/i.test(text);
}
