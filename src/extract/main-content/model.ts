/**
 * The likelihood that a block belongs to the main content. The model is a sum of small decision trees,
 * trained by `npm run bench -- content --train` on pages with hand-labelled main content.
 */
import { COLUMNS, type Column } from "./columns.ts";
import { BASE, COLUMN_NAMES, TREES } from "./trees.ts";

/** All trees in flat arrays: a node tests a column, or is a leaf (column −1) and adds its value. */
interface Forest {
  columns: readonly Column[];
  column: Int16Array;
  /** The threshold: below goes left, else right; for a leaf its value. */
  limit: Float64Array;
  right: Int32Array;
  roots: Int32Array;
}

let forest: Forest | null = null;

/** The columns that a row must have. */
export function modelColumns(): readonly Column[] {
  return (forest ??= readForest()).columns;
}

/** Early exit: blocks with a sum below this after so many trees are not evaluated further. */
const EARLY_EXIT_TREES = 40;
const EARLY_EXIT_SUM = -3.5;

export function likelihood(row: Float32Array): number {
  const { column, limit, right, roots } = (forest ??= readForest());
  let sum = BASE;
  for (let tree = 0; tree < roots.length && !(tree === EARLY_EXIT_TREES && sum < EARLY_EXIT_SUM); tree += 1) {
    let node = roots[tree]!;
    while (column[node]! >= 0) node = row[column[node]!]! < limit[node]! ? node + 1 : right[node]!;
    sum += limit[node]!;
  }
  return 1 / (1 + Math.exp(-sum));
}

/** Trees are serialized in preorder: `3<0.25`, its left subtree, its right subtree; `=0.1` is a leaf. */
function readForest(): Forest {
  const byName = new Map(COLUMNS.map((column) => [column.name, column]));
  const columns = COLUMN_NAMES.split(" ").map((name) => {
    const column = byName.get(name);
    if (column === undefined) throw new Error(`the model asks for "${name}", which is no column`);
    return column;
  });
  const nodes: { column: number; limit: number; right: number }[] = [];
  const roots = TREES.trim()
    .split("\n")
    .map((line) => {
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
    columns,
    column: Int16Array.from(nodes, (node) => node.column),
    limit: Float64Array.from(nodes, (node) => node.limit),
    right: Int32Array.from(nodes, (node) => node.right),
    roots: Int32Array.from(roots),
  };
}
