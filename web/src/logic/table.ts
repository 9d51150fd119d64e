/** Table logic: order, visible columns, keyboard selection. */

export interface SortBy {
  column: string;
  descending: boolean;
}

/** A click on a header: ascending, descending, unsorted. */
export function nextSort(sort: SortBy | null, column: string): SortBy | null {
  if (sort?.column !== column) return { column, descending: false };
  return sort.descending ? null : { column, descending: true };
}

export type Sortable = string | number | boolean | null | undefined;

/** Rows without a value come last in either direction. */
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

/** Visible columns: the user's choice, or all that are not hidden by default. */
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
  /** Lowest priority is folded first, of equal ones the last; default 5. */
  priority?: number;
  phone?: "head" | "wide" | "hide";
}

/** Never folded. */
export const ALWAYS = Infinity;

/** Texts are folded before they shrink to a few letters. */
const TEXT_MIN = 120;
const HEAD_MIN = 170;
/** As in table.css: between columns, and at both edges of a row. */
const GAP = 12;
const EDGES = 32;
/** The button that unfolds a row. */
export const UNFOLD_WIDTH = 28;

/** The smallest readable width of a column, in pixels. */
export function leastWidth({ width = "minmax(80px, 1fr)", phone }: FitColumn): number {
  const least = Number(/^(?:minmax\()?(\d+)/.exec(width)?.[1] ?? 0);
  if (!width.includes("fr")) return least;
  return Math.max(least, phone === "head" ? HEAD_MIN : least === 0 ? TEXT_MIN : 0);
}

/**
 * Columns that fit this width; the others are folded into the details of each row. `isTight`: even those that are never
 * folded do not fit.
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

/** The row selected by keyboard: it stays the same row when others are inserted above. */
export interface RowPosition {
  key: string;
  /** Its last index: if the row is gone, navigation continues from there. */
  index: number;
}

/** Its current index; -1: none selected. */
export function rowIndex<Row>(rows: readonly Row[], keyOf: (row: Row) => string, position: RowPosition | null): number {
  if (position === null) return -1;
  const then = rows[position.index];
  if (then !== undefined && keyOf(then) === position.key) return position.index;
  const index = rows.findIndex((row) => keyOf(row) === position.key);
  return index >= 0 ? index : Math.min(position.index, rows.length - 1);
}

/** The row that a key selects; -1: none selected yet. */
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
