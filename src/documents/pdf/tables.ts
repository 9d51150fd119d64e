/** Finds tables by the alignment of their cells: PDF has no tables. */
import { type Segment, splitSegment } from "./pieces.ts";

/** Segments on one baseline, from the left. */
export type Row = Segment[];

interface PdfTable {
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
    if (row !== undefined && Math.abs(row[0]!.y - segment.y) < 0.3 * Math.max(segment.size, row[0]!.size))
      row.push(segment);
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
  const columns = columnsOf(rows.slice(from, end));
  if (columns === null) return null;
  const body = tableRows(rows, from, end, columns);
  if (body.filter((row) => row.length > 1).length < 2) return null;
  const placed = body.map((row) => placeRow(row, columns));
  if (placed.some((row) => row === null)) return null;
  return { cells: mergeLines(body, placed as Segment[][][], columns), taken: body.length };
}

function isNear(above: Row, below: Row): boolean {
  return below[0]!.y - above[0]!.y < MAX_ROW_GAP * Math.max(above[0]!.size, below[0]!.size);
}

/** Also rows with fewer cells, as long as more of the table follows, or a line goes on with its cell. */
function tableRows(rows: readonly Row[], from: number, start: number, columns: readonly Column[]): Row[] {
  const found: Row[] = [];
  let kept = 0;
  for (let next = from; next < rows.length; next += 1) {
    const above = found.at(-1);
    if (above !== undefined && !isNear(above, rows[next]!)) break;
    // A line of text over all columns is not cut into cells.
    const isText = rows[next]!.length === 1;
    const row = isText ? rows[next]! : rows[next]!.flatMap((segment) => splitAtColumns(segment, columns));
    if (placeRow(row, columns) === null || row.some((segment) => !fitsOne(segment, columns))) break;
    found.push(row);
    // A line of one cell alone may be the paragraph below the table.
    const goesOn = above !== undefined && isNextLine(above, row) && isWrapped(cellsAbove(found, columns), row, columns);
    if (next < start || row.length > 1 || goesOn) kept = found.length;
  }
  return found.slice(0, kept);
}

function isNextLine(above: Row, row: Row): boolean {
  return row[0]!.y - above[0]!.y < 1.6 * row[0]!.size;
}

/** The last segment of each column above the last row. */
function cellsAbove(rows: readonly Row[], columns: readonly Column[]): (Segment | undefined)[] {
  const above = rows.at(-2)!;
  return columns.map((column) => above.findLast((segment) => isInColumn(segment, column)));
}

/** The first words of the row would not have fitted behind the cells above: these go on here. */
function isWrapped(above: readonly (Segment | undefined)[], row: Row, columns: readonly Column[]): boolean {
  return row.every((segment) => {
    const index = nearestColumn(segment, columns);
    const cell = above[index];
    const limit = columns[index + 1]?.left;
    if (cell === undefined || limit === undefined) return false;
    const text = segment.text.trim();
    const word = ((segment.right - segment.x) * text.split(/\s/)[0]!.length) / Math.max(1, text.length);
    return cell.right + word + 0.2 * segment.size > limit - 0.5 * segment.size;
  });
}

/** Cells that stand as near as words do are told apart by the columns of the other rows. */
function splitAtColumns(segment: Segment, columns: readonly Column[]): Segment[] {
  const inner = columns.find(
    ({ left }) => left > segment.x + segment.size && left < segment.right - 0.2 * segment.size,
  );
  if (inner === undefined || fitsOne(segment, columns)) return [segment];
  const parts = splitSegment(segment, inner.left);
  return parts === null ? [segment] : [parts[0], ...splitAtColumns(parts[1], columns)];
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

/** Lines that stand nearer than the rows do, or that did not fit into their cells, belong to the row above. */
function mergeLines(rows: readonly Row[], placed: readonly Segment[][][], columns: readonly Column[]): Segment[][][] {
  const merged: Segment[][][] = [];
  const gaps = rows.slice(1).map((row, index) => row[0]!.y - rows[index]![0]!.y);
  const widest = Math.max(...gaps, 0);
  for (const [index, cells] of placed.entries()) {
    const row = rows[index]!;
    const gap = index === 0 ? Number.POSITIVE_INFINITY : gaps[index - 1]!;
    const before = merged.at(-1);
    const isPartial = cells.some((cell) => cell.length === 0);
    const isNearer = gap < 0.8 * widest || isWrapped(before?.map((cell) => cell.at(-1)) ?? [], row, columns);
    if (before !== undefined && isPartial && gap < 1.6 * row[0]!.size && isNearer)
      for (const [column, cell] of cells.entries()) before[column]!.push(...cell);
    else merged.push(cells.map((cell) => [...cell]));
  }
  return merged;
}
