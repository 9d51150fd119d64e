/** The cells of a sheet as a table, without the empty rows and columns around them. */
import { type HtmlWriter, linked } from "../html.ts";

interface SheetCell {
  /** Markup. */
  html: string;
  address?: string | null;
}

interface Merge {
  row: number;
  column: number;
  rows: number;
  columns: number;
}

/** A merged cell while its rows are written. */
interface OpenMerge {
  /** The first and the last column. */
  from: number;
  to: number;
  /** Behind the last row. */
  end: number;
}

/** More cells are not kept in memory: the page has no room for them. */
const MAX_CELLS = 2_000_000;
const MAX_COLUMNS = 16_384;
const MAX_MERGES = 10_000;
/** Merged cells to look at while the rows are written; beyond, cells are written without merging them. */
const MAX_STEPS = 20_000_000;

export class Sheet {
  readonly #rows = new Map<number, Map<number, SheetCell>>();
  readonly #merges: Merge[] = [];
  #length = 0;
  #cells = 0;
  readonly #maxLength: number;
  isFull = false;

  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  set(row: number, column: number, html: string): void {
    if (html === "" || column >= MAX_COLUMNS || !Number.isSafeInteger(row) || row < 0) return;
    let cells = this.#rows.get(row);
    if (cells === undefined) this.#rows.set(row, (cells = new Map()));
    cells.set(column, { html });
    this.#cells += 1;
    this.#length += html.length + "<td></td>".length;
    this.isFull ||= this.#length > this.#maxLength || this.#cells > MAX_CELLS;
  }

  link(row: number, column: number, address: string): void {
    const cell = this.#rows.get(row)?.get(column);
    if (cell !== undefined) cell.address = address;
  }

  merge(merge: Merge): void {
    if (merge.rows > 1 || merge.columns > 1)
      if (this.#merges.length < MAX_MERGES && merge.rows > 0 && merge.columns > 0) this.#merges.push(merge);
  }

  get isEmpty(): boolean {
    return this.#rows.size === 0;
  }

  /** Empty rows within the sheet are left out. */
  write(writer: HtmlWriter): void {
    const numbers = [...this.#rows.keys()].sort((a, b) => a - b);
    let first = Number.POSITIVE_INFINITY;
    let last = 0;
    for (const cells of this.#rows.values())
      for (const column of cells.keys()) {
        first = Math.min(first, column);
        last = Math.max(last, column);
      }
    const merges = new MergedCells(this.#merges, numbers, first, last);
    writer.raw("<table>\n");
    for (const [index, number] of numbers.entries()) {
      const tag = index === 0 ? "th" : "td";
      const cells = this.#rows.get(number)!;
      const { started, covered } = merges.row(index);
      // A row ends with its last cell, so that sparse sheets stay small; the first row has all columns.
      let end = index === 0 ? last : 0;
      for (const column of cells.keys()) end = Math.max(end, column);
      for (const column of started.keys()) end = Math.max(end, column);
      writer.raw("<tr>");
      for (let column = first; column <= end; column += 1) {
        const until = covered.get(column);
        if (until !== undefined) {
          column = until;
          continue;
        }
        const span = started.get(column);
        writer.raw(cellMarkup(tag, cells.get(column), span));
        if (span !== undefined) column += span.columns - 1;
      }
      writer.raw("</tr>\n");
    }
    writer.raw("</table>\n");
  }
}

interface Span {
  columns: number;
  rows: number;
}

/** Which merged cells begin in a row, and which columns are covered by those from above. */
class MergedCells {
  readonly #waiting: Merge[];
  readonly #rows: readonly number[];
  readonly #first: number;
  readonly #last: number;
  #open: OpenMerge[] = [];
  #steps = 0;

  /** `rows`: the numbers of the rows that are written, ascending. */
  constructor(merges: readonly Merge[], rows: readonly number[], first: number, last: number) {
    this.#waiting = [...merges].sort((a, b) => b.row - a.row || b.column - a.column);
    this.#rows = rows;
    this.#first = first;
    this.#last = last;
  }

  /** Rows are asked for in order. `covered`: the last covered column, by the first one. */
  row(index: number): { started: Map<number, Span>; covered: Map<number, number> } {
    const number = this.#rows[index]!;
    this.#steps += this.#open.length;
    this.#open = this.#steps > MAX_STEPS ? [] : this.#open.filter(({ end }) => end > number);
    const covered = new Map(this.#open.map(({ from, to }) => [from, to]));
    const started = new Map<number, Span>();
    for (let next = this.#waiting.at(-1); next !== undefined && next.row <= number; next = this.#waiting.at(-1)) {
      this.#waiting.pop();
      const from = Math.max(this.#first, next.column);
      const to = Math.min(this.#last, next.column + next.columns - 1);
      const end = next.row + next.rows;
      // Rows without cells are not written; merged cells of an honest file do not overlap.
      if (end <= number || to < from || this.#open.some((open) => open.from <= to && open.to >= from)) continue;
      started.set(from, { columns: to - from + 1, rows: this.#countUntil(index, end) });
      this.#steps += this.#open.length;
      this.#open.push({ from, to, end });
    }
    return { started, covered };
  }

  /** How many written rows from this one on are before the row `end`. */
  #countUntil(index: number, end: number): number {
    let [low, high] = [index, this.#rows.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#rows[middle]! < end) low = middle + 1;
      else high = middle;
    }
    return low - index;
  }
}

function cellMarkup(
  tag: string,
  cell: SheetCell | undefined,
  { columns, rows }: Span = { columns: 1, rows: 1 },
): string {
  const spans = `${columns > 1 ? ` colspan="${columns}"` : ""}${rows > 1 ? ` rowspan="${rows}"` : ""}`;
  return `<${tag}${spans}>${linked(cell?.html ?? "", cell?.address)}</${tag}>`;
}
