/** The cell grid of a table, as browsers lay it out, with row and column spans. */
import type { Element, Node } from "../dom/nodes.ts";

export interface Slot {
  cell: Element;
  /** The first slot of the cell. */
  isOrigin: boolean;
}

export interface Grid {
  /** Rows with own cells; `null`: an empty slot. */
  rows: (Slot | null)[][];
  caption: Element | null;
  /** Content that does not belong into a table. */
  stray: Node[];
}

/** Beyond these limits spans are ignored: a few tags could claim billions of slots. */
const MAX_COLUMNS = 1000;
const MAX_SLOTS = 200_000;

interface Row {
  cells: Element[];
  /** Number of following rows in its group. */
  below: number;
}

export function readGrid(table: Element, keep: (element: Element) => boolean): Grid {
  const grid: Grid = { rows: [], caption: null, stray: [] };
  const rows: Row[] = [];
  collectRows(table, { grid, rows, keep });
  fillGrid(rows, grid.rows);
  return grid;
}

interface Collected {
  grid: Grid;
  rows: Row[];
  keep(element: Element): boolean;
}

function collectRows(group: Element, found: Collected): void {
  const { grid, rows, keep } = found;
  let groupRows: Row[] = [];
  const endGroup = () => {
    for (const [index, row] of groupRows.entries()) row.below = groupRows.length - 1 - index;
    rows.push(...groupRows);
    groupRows = [];
  };
  for (let node = group.first; node !== null; node = node.next) {
    const rule = node.kind === 1 ? node.tag.rule : null;
    if (node.kind === 3) {
      if (node.data.trim() !== "") grid.stray.push(node);
    } else if (rule === "colgroup" || rule === "col" || !keep(node)) continue;
    else if (rule === "tr") groupRows.push({ cells: cellsOf(node, found), below: 0 });
    else if (rule === "tbody") {
      endGroup();
      collectRows(node, found);
    } else if (rule === "caption" && grid.caption === null) grid.caption = node;
    else grid.stray.push(node);
  }
  endGroup();
}

function cellsOf(row: Element, { grid, keep }: Collected): Element[] {
  const cells: Element[] = [];
  for (let node = row.first; node !== null; node = node.next) {
    if (node.kind === 1 && node.tag.rule === "td") {
      if (keep(node)) cells.push(node);
    } else if (node.kind === 1 ? keep(node) : node.data.trim() !== "") grid.stray.push(node);
  }
  return cells;
}

function fillGrid(rows: readonly Row[], placed: (Slot | null)[][]): void {
  /** By column: the cell that spans into the next rows, and how many. */
  let spanning: ({ cell: Element; left: number } | undefined)[] = [];
  let slots = 0;
  for (const { cells, below } of rows) {
    const row: (Slot | null)[] = [];
    const next: typeof spanning = [];
    const fillFromAbove = () => {
      for (let from = spanning[row.length]; from !== undefined; from = spanning[row.length]) {
        if (from.left > 1) next[row.length] = { cell: from.cell, left: from.left - 1 };
        row.push({ cell: from.cell, isOrigin: false });
      }
    };
    for (const cell of cells) {
      fillFromAbove();
      const isOverLimit = row.length > MAX_COLUMNS || slots > MAX_SLOTS;
      const across = isOverLimit ? 1 : spanOf(cell, "colspan", 1);
      const down = isOverLimit ? 1 : Math.min(spanOf(cell, "rowspan", below + 1), below + 1);
      for (let step = 0; step < across; step += 1) {
        if (down > 1) next[row.length] = { cell, left: down - 1 };
        row.push({ cell, isOrigin: step === 0 });
      }
    }
    for (let at = row.length; at < spanning.length; at = Math.max(at + 1, row.length)) {
      if (spanning[at] === undefined) continue;
      while (row.length < at) row.push(null);
      fillFromAbove();
    }
    spanning = next;
    slots += row.length;
    if (cells.length > 0) placed.push(row);
  }
}

/** `rowspan="0"` spans to the end of the group. */
function spanOf(cell: Element, name: "colspan" | "rowspan", forZero: number): number {
  const span = Number.parseInt(cell.attr(name) ?? "1", 10);
  if (span === 0) return forZero;
  return Number.isNaN(span) || span < 0 ? 1 : Math.min(span, MAX_COLUMNS);
}
