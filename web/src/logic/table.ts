/** What a table decides: order, which columns are shown, which row is chosen by keys. */

export interface SortBy {
  column: string;
  descending: boolean;
}

/** A click on a head: this column up, then down, then as it was. */
export function nextSort(sort: SortBy | null, column: string): SortBy | null {
  if (sort?.column !== column) return { column, descending: false };
  return sort.descending ? null : { column, descending: true };
}

export type Sortable = string | number | boolean | null | undefined;

/** What has no value comes last, whichever way. */
export function sortRows<Row>(rows: readonly Row[], valueOf: (row: Row) => Sortable, descending: boolean): Row[] {
  return rows.toSorted((a, b) => {
    const [x, y] = [valueOf(a), valueOf(b)];
    const [noX, noY] = [x === null || x === undefined, y === null || y === undefined];
    if (noX || noY) return Number(noX) - Number(noY);
    const order =
      typeof x === "string" && typeof y === "string"
        ? x.localeCompare(y, "en", { numeric: true })
        : Number(x) - Number(y);
    return descending ? -order : order;
  });
}

/** The columns that are shown: what was chosen, or all that are not put away from the start. */
export function shownColumns<Column extends { id: string; hidden?: boolean }>(
  columns: readonly Column[],
  chosen: readonly string[] | null,
): Column[] {
  if (chosen === null) return columns.filter(({ hidden }) => hidden !== true);
  const shown = columns.filter(({ id }) => chosen.includes(id));
  return shown.length === 0 ? columns.filter(({ hidden }) => hidden !== true) : shown;
}

/** What `fitColumns` reads of a column. */
interface FitColumn {
  width?: string;
  /** Columns of the lowest priority are folded first, of equal ones the last; without one it is 5. */
  priority?: number;
  phone?: "head" | "wide" | "hide";
}

/** Of a column that is never folded. */
export const ALWAYS = Infinity;

/** Texts that may shrink are folded before they are a few letters and three dots. */
const TEXT_MIN = 120;
const HEAD_MIN = 170;
/** As in table.css: between columns, and at both edges of a row. */
const GAP = 12;
const EDGES = 32;
/** The button that unfolds a row. */
export const UNFOLD_WIDTH = 28;

/** The least width, in pixels, at which a column can be read. */
export function leastWidth({ width = "minmax(80px, 1fr)", phone }: FitColumn): number {
  const least = Number(/^(?:minmax\()?(\d+)/.exec(width)?.[1] ?? 0);
  if (!width.includes("fr")) return least;
  return Math.max(least, phone === "head" ? HEAD_MIN : least === 0 ? TEXT_MIN : 0);
}

/**
 * Which columns a table of this width has room for; the others are folded into the details of each row. `isTight`: even
 * those that are never folded do not fit.
 */
export function fitColumns<Column extends FitColumn>(
  columns: readonly Column[],
  width: number,
): { shown: Column[]; folded: Column[]; isTight: boolean } {
  const priorityOf = ({ priority, phone }: Column) =>
    priority ?? (phone === "head" ? ALWAYS : phone === "hide" ? 1 : 5);
  const shown = [...columns];
  const taken = () => {
    const cells = shown.map(leastWidth);
    if (shown.length < columns.length) cells.push(UNFOLD_WIDTH);
    return cells.reduce((sum, one) => sum + one, EDGES + GAP * (cells.length - 1));
  };
  while (taken() > width) {
    const least = Math.min(...shown.map(priorityOf));
    if (least === ALWAYS) break;
    shown.splice(
      shown.findLastIndex((column) => priorityOf(column) === least),
      1,
    );
  }
  return { shown, folded: columns.filter((column) => !shown.includes(column)), isTight: taken() > width };
}

/** The row that keys have led to: it stays the same row when others come in above it. */
export interface RowPosition {
  key: string;
  /** Where it was: who goes on from a row that is gone goes on from there. */
  index: number;
}

/** Where that row is now; -1: none was chosen. */
export function rowIndex<Row>(rows: readonly Row[], keyOf: (row: Row) => string, position: RowPosition | null): number {
  if (position === null) return -1;
  const then = rows[position.index];
  if (then !== undefined && keyOf(then) === position.key) return position.index;
  const index = rows.findIndex((row) => keyOf(row) === position.key);
  return index >= 0 ? index : Math.min(position.index, rows.length - 1);
}

/** The row that a key leads to; -1: none is chosen yet. */
export function moveRow(current: number, key: string, length: number): number {
  if (length === 0) return -1;
  const last = length - 1;
  switch (key) {
    case "j":
    case "ArrowDown":
      return Math.min(current + 1, last);
    case "k":
    case "ArrowUp":
      return Math.max(current - 1, 0);
    case "Home":
      return 0;
    case "End":
      return last;
    case "PageDown":
      return Math.min(Math.max(current, 0) + 10, last);
    case "PageUp":
      return Math.max(current - 10, 0);
    default:
      return current;
  }
}
