/** A sheet of an OpenDocument spreadsheet: rows and cells are repeated by numbers, and merged cells cover others. */
import type { HtmlWriter } from "../html.ts";
import type { Attributes } from "../xml.ts";
import { Sheet } from "./sheet.ts";

interface SheetCell {
  html: string;
  repeat: number;
  columns: number;
  rows: number;
}

/** Beyond every sheet: a number that is larger is a mistake or an attack. */
const MAX_REPEAT = 16_777_216;

export class OdfSheet {
  readonly #sheet: Sheet;
  #row = 0;
  #rowRepeat = 1;
  /** The cells of the row that have text or cover others, by column. */
  #cells: { column: number; cell: SheetCell }[] = [];
  #column = 0;

  constructor(maxLength: number) {
    this.#sheet = new Sheet(maxLength);
  }

  get isFull(): boolean {
    return this.#sheet.isFull;
  }

  startRow(attributes: Attributes): void {
    this.#rowRepeat = countOf(attributes["number-rows-repeated"]);
    this.#column = 0;
    this.#cells = [];
  }

  cell(cell: SheetCell): void {
    if (cell.html !== "" || cell.columns > 1 || cell.rows > 1) this.#cells.push({ column: this.#column, cell });
    this.#column += cell.repeat;
  }

  /** What a merged cell covers is not shown. */
  covered(attributes: Attributes): void {
    this.#column += countOf(attributes["number-columns-repeated"]);
  }

  endRow(): void {
    for (const { column, cell } of this.#cells)
      this.#sheet.merge({ row: this.#row, column, rows: cell.rows, columns: cell.columns });
    const rows = this.#cells.some(({ cell }) => cell.html !== "") ? this.#rowRepeat : 0;
    for (let count = 0; count < rows && !this.isFull; count += 1) this.#set(this.#row + count);
    this.#row += this.#rowRepeat;
    this.#cells = [];
  }

  #set(row: number): void {
    for (const { column, cell } of this.#cells)
      for (let count = 0; count < cell.repeat && !this.isFull; count += 1)
        this.#sheet.set(row, column + count, cell.html);
  }

  write(writer: HtmlWriter): void {
    if (!this.#sheet.isEmpty) this.#sheet.write(writer);
    if (this.isFull) writer.full();
  }
}

export function countOf(text: string | undefined): number {
  return Math.min(MAX_REPEAT, Math.max(1, Math.floor(Number(text)) || 1));
}

/** A date without the format of the cell, as in Excel files; empty: the cell has none. */
export function dateOf(attributes: Attributes): string {
  const match = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d)(:\d\d)?)?/.exec(attributes["date-value"] ?? "");
  if (match === null) return "";
  const [, date = "", time = "00:00", seconds = ":00"] = match;
  if (time === "00:00" && seconds === ":00") return date;
  return `${date} ${time}${seconds === ":00" ? "" : seconds}`;
}

/** The value of a cell whose text was not written; empty: it has none. */
export function valueOf(attributes: Attributes): string {
  const { value } = attributes;
  if (attributes["value-type"] === "percentage" && value !== undefined)
    return `${Number((Number(value) * 100).toPrecision(15))}%`;
  return attributes["string-value"] ?? attributes["boolean-value"] ?? value ?? "";
}
