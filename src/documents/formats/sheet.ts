/** The cells of a sheet as a table, without the empty rows and columns around them. */
import { escapeText, type HtmlWriter, linked, type TableCell } from "../html.ts";

interface SheetCell {
  text: string;
  address?: string | null;
}

interface Merge {
  row: number;
  column: number;
  rows: number;
  columns: number;
}

/** More cells are not kept in memory: the page has no room for them. */
const MAX_CELLS = 2_000_000;
const MAX_COLUMNS = 16_384;

export class Sheet {
  readonly name: string;
  readonly #rows = new Map<number, Map<number, SheetCell>>();
  readonly #merges: Merge[] = [];
  #length = 0;
  #cells = 0;
  readonly #maxLength: number;
  isFull = false;

  constructor(name: string, maxLength: number) {
    this.name = name;
    this.#maxLength = maxLength;
  }

  set(row: number, column: number, text: string): void {
    if (text === "" || column >= MAX_COLUMNS) return;
    let cells = this.#rows.get(row);
    if (cells === undefined) this.#rows.set(row, (cells = new Map()));
    cells.set(column, { text });
    this.#cells += 1;
    this.#length += text.length + "<td></td>".length;
    this.isFull ||= this.#length > this.#maxLength || this.#cells > MAX_CELLS;
  }

  link(row: number, column: number, address: string): void {
    const cell = this.#rows.get(row)?.get(column);
    if (cell !== undefined) cell.address = address;
  }

  merge(merge: Merge): void {
    if (this.#merges.length < 10_000) this.#merges.push(merge);
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
    const spans = new Map(this.#merges.map((merge) => [`${merge.row} ${merge.column}`, merge]));
    const covered = this.#covered(numbers);
    writer.raw("<table>\n");
    for (const [index, number] of numbers.entries()) {
      const tag = index === 0 ? "th" : "td";
      const cells = this.#rows.get(number)!;
      // A row ends with its last cell, so that sparse sheets stay small; the first row has all columns.
      const end = index === 0 ? last : Math.max(...cells.keys());
      writer.raw("<tr>");
      for (let column = first; column <= end; column += 1) {
        if (covered.has(`${number} ${column}`)) continue;
        const cell = cells.get(column);
        const span = spans.get(`${number} ${column}`);
        writer.raw(cellMarkup(tag, cell, span === undefined ? {} : this.#spanOf(span, numbers)));
      }
      writer.raw("</tr>\n");
    }
    writer.raw("</table>\n");
  }

  #spanOf(merge: Merge, rows: readonly number[]): Pick<TableCell, "columns" | "rows"> {
    const kept = rows.filter((row) => row >= merge.row && row < merge.row + merge.rows).length;
    return { columns: merge.columns, rows: Math.max(1, kept) };
  }

  #covered(rows: readonly number[]): Set<string> {
    const covered = new Set<string>();
    const known = new Set(rows);
    for (const merge of this.#merges) {
      const most = Math.min(merge.rows, 1000);
      for (let row = merge.row; row < merge.row + most; row += 1) {
        if (!known.has(row)) continue;
        for (let column = merge.column; column < merge.column + Math.min(merge.columns, 1000); column += 1)
          if (row !== merge.row || column !== merge.column) covered.add(`${row} ${column}`);
      }
    }
    return covered;
  }
}

function cellMarkup(tag: string, cell: SheetCell | undefined, { columns = 1, rows = 1 }: Partial<TableCell>): string {
  const spans = `${columns > 1 ? ` colspan="${columns}"` : ""}${rows > 1 ? ` rowspan="${rows}"` : ""}`;
  const text = cell === undefined ? "" : escapeText(cell.text).replace(/\r?\n/g, "<br>");
  return `<${tag}${spans}>${linked(text, cell?.address)}</${tag}>`;
}
