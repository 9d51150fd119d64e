/** Finds tables by the alignment of their cells: PDF has no tables. */
import type { Segment } from "./pieces.ts";

/** Segments on one baseline, from the left. */
export type Row = Segment[];

export interface PdfTable {
  /** Cells by row and column; several lines of a cell are several segments. */
  cells: Segment[][][];
  /** How many rows of the page it takes. */
  taken: number;
}

interface Column {
  left: number;
  right: number;
}

/** Of the font size: rows of one table are nearer. */
const MAX_ROW_GAP = 3.6;

export function rowsOf(segments: readonly Segment[]): Row[] {
  const rows: Row[] = [];
  for (const segment of [...segments].sort((a, b) => a.y - b.y || a.x - b.x)) {
    const row = rows.at(-1);
    if (row !== undefined && Math.abs(row[0]!.y - segment.y) < 0.3 * Math.max(segment.size, row[0]!.size)) row.push(segment);
    else rows.push([segment]);
  }
  for (const row of rows) row.sort((a, b) => a.x - b.x);
  return rows;
}

/** The table that begins with this row; null: none does. */
export function tableAt(rows: readonly Row[], from: number): PdfTable | null {
  if (rows[from]!.length < 2) return null;
  let end = from + 1;
  while (end < rows.length && isNear(rows[end - 1]!, rows[end]!) && rows[end]!.length > 1) end += 1;
  // Rows with one cell belong to it where more rows with several follow, or where the line goes on a cell.
  const columns = columnsOf(rows.slice(from, end));
  if (columns === null) return null;
  end = extended(rows, from, end, columns);
  const body = rows.slice(from, end);
  if (body.filter((row) => row.length > 1).length < 2) return null;
  const placed = body.map((row) => placeRow(row, columns));
  if (placed.some((row) => row === null)) return null;
  return { cells: mergeLines(body, placed as Segment[][][]), taken: end - from };
}

function isNear(above: Row, below: Row): boolean {
  return below[0]!.y - above[0]!.y < MAX_ROW_GAP * Math.max(above[0]!.size, below[0]!.size);
}

function extended(rows: readonly Row[], from: number, start: number, columns: readonly Column[]): number {
  let end = start;
  let next = start;
  const pitch = medianGap(rows.slice(from, start));
  while (next < rows.length && isNear(rows[next - 1]!, rows[next]!)) {
    const row = rows[next]!;
    const gap = row[0]!.y - rows[next - 1]![0]!.y;
    if (placeRow(row, columns) === null || row.some((segment) => !fitsOne(segment, columns))) break;
    next += 1;
    // A line of one cell alone may be the paragraph below the table.
    if (row.length > 1 || (gap <= 1.15 * pitch && !isInColumn(row[0]!, columns[0]!))) end = next;
  }
  return end;
}

function isInColumn(segment: Segment, column: Column): boolean {
  return segment.x < column.right && segment.right > column.left;
}

function fitsOne(segment: Segment, columns: readonly Column[]): boolean {
  return columns.filter((column) => isInColumn(segment, column)).length <= 1;
}

/** By the rows with the most cells; null: the cells are not aligned. */
function columnsOf(rows: readonly Row[]): Column[] | null {
  const most = Math.max(...rows.map((row) => row.length));
  if (most < 2) return null;
  const full = rows.filter((row) => row.length === most);
  const columns: Column[] = full[0]!.map(({ x, right }) => ({ left: x, right }));
  for (const row of full.slice(1))
    for (const [index, { x, right }] of row.entries()) {
      const column = columns[index]!;
      column.left = Math.min(column.left, x);
      column.right = Math.max(column.right, right);
    }
  for (let index = 1; index < columns.length; index += 1)
    if (columns[index]!.left <= columns[index - 1]!.right) return null;
  return columns;
}

/** Null: a cell has no column. */
function placeRow(row: Row, columns: readonly Column[]): Segment[][] | null {
  const cells: Segment[][] = columns.map(() => []);
  for (const segment of row) {
    const index = nearestColumn(segment, columns);
    if (index < 0) return null;
    cells[index]!.push(segment);
  }
  return cells;
}

function nearestColumn(segment: Segment, columns: readonly Column[]): number {
  const over = columns.findIndex((column) => isInColumn(segment, column));
  if (over >= 0) return over;
  const slack = 2 * segment.size;
  const middle = (segment.x + segment.right) / 2;
  return columns.findIndex(({ left, right }) => middle > left - slack && middle < right + slack);
}

function medianGap(rows: readonly Row[]): number {
  const gaps = rows.slice(1).map((row, index) => row[0]!.y - rows[index]![0]!.y).sort((a, b) => a - b);
  return gaps[Math.floor(gaps.length / 2)] ?? 1.5 * (rows[0]?.[0]?.size ?? 12);
}

/** Lines that stand nearer than the rows do are lines of the same cells. */
function mergeLines(rows: readonly Row[], placed: readonly Segment[][][]): Segment[][][] {
  const merged: Segment[][][] = [];
  const gaps = rows.slice(1).map((row, index) => row[0]!.y - rows[index]![0]!.y);
  const widest = Math.max(...gaps, 0);
  for (const [index, cells] of placed.entries()) {
    const gap = index === 0 ? Number.POSITIVE_INFINITY : gaps[index - 1]!;
    const isPartial = cells.some((cell) => cell.length === 0);
    const before = merged.at(-1);
    if (before !== undefined && isPartial && gap < 0.8 * widest && gap < 1.6 * rows[index]![0]!.size)
      for (const [column, cell] of cells.entries()) before[column]!.push(...cell);
    else merged.push(cells.map((cell) => [...cell]));
  }
  return merged;
}
