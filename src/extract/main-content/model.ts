/**
 * The likelihood that a block belongs to the main content. The models are sums of small decision trees, trained by
 * `npm run bench -- content --train` on pages with hand-labelled main content: one for each page type, and one for the
 * blocks, which has the likelihoods of the types among its columns.
 */
import { type Column, OWN_COLUMNS, type PageContext, readTable, TYPE_COLUMNS } from "./columns.ts";
import { pageRow } from "./page-table.ts";
import type { Survey } from "./survey.ts";
import { COLUMN_NAMES, CONTENT, TYPES } from "./trees.ts";

/** Trees in flat arrays: a node tests a column, or is a leaf (column −1) and adds its value. */
interface Forest {
  base: number;
  column: Int16Array;
  /** The threshold: below goes left, else right; for a leaf its value. */
  limit: Float64Array;
  right: Int32Array;
  roots: Int32Array;
}

interface Models {
  /** The columns that the trees use; those of the page types follow them. */
  columns: readonly Column[];
  content: Forest;
  types: Forest[];
}

let models: Models | null = null;

/** Early exit: blocks with a sum below this after so many trees are not evaluated further. */
const EARLY_EXIT_TREES = 40;
const EARLY_EXIT_SUM = -3.5;

/** One likelihood per block. */
export function likelihoods(page: Survey, context: PageContext): number[] {
  const { columns, content, types } = (models ??= readModels());
  const width = columns.length + TYPE_COLUMNS.length;
  const table = readTable(page, context, columns, TYPE_COLUMNS.length);
  const mean = pageRow(page.blocks, table, width);
  for (const [index, forest] of types.entries()) {
    const value = sigmoid(sumOf(forest, mean, 0));
    for (let row = 0; row < page.blocks.length; row += 1) table[row * width + columns.length + index] = value;
  }
  return page.blocks.map((_, row) => sigmoid(sumOf(content, table, row * width)));
}

function sigmoid(sum: number): number {
  return 1 / (1 + Math.exp(-sum));
}

function sumOf({ base, column, limit, right, roots }: Forest, values: Float32Array, from: number): number {
  let sum = base;
  for (let tree = 0; tree < roots.length && !(tree === EARLY_EXIT_TREES && sum < EARLY_EXIT_SUM); tree += 1) {
    let node = roots[tree]!;
    while (column[node]! >= 0) node = values[from + column[node]!]! < limit[node]! ? node + 1 : right[node]!;
    sum += limit[node]!;
  }
  return sum;
}

function readModels(): Models {
  const byName = new Map(OWN_COLUMNS.map((column) => [column.name, column]));
  const columns = COLUMN_NAMES.split(" ").map((name) => {
    const column = byName.get(name);
    if (column === undefined) throw new Error(`the model asks for "${name}", which is no column`);
    return column;
  });
  return { columns, content: readForest(CONTENT), types: TYPES.map(readForest) };
}

/** The base, then trees in preorder, one per line or semicolon: `3<0.25`, its left subtree, its right subtree; `=0.1` is a leaf. */
function readForest(text: string): Forest {
  const nodes: { column: number; limit: number; right: number }[] = [];
  const [base, ...lines] = text.trim().split(/[\n;]/);
  const roots = lines.map((line) => {
    const words = line.trim().split(" ");
    const root = nodes.length;
    let at = 0;
    const read = () => {
      const [name, value] = (words[at] as string).split(/[<=]/) as [string, string];
      at += 1;
      const node = { column: name === "" ? -1 : Number(name), limit: Number(value), right: 0 };
      nodes.push(node);
      if (node.column < 0) return;
      read();
      node.right = nodes.length;
      read();
    };
    read();
    return root;
  });
  return {
    base: Number(base),
    column: Int16Array.from(nodes, (node) => node.column),
    limit: Float64Array.from(nodes, (node) => node.limit),
    right: Int32Array.from(nodes, (node) => node.right),
    roots: Int32Array.from(roots),
  };
}
