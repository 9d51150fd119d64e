/**
 * How likely a block belongs to the main content. The model is a sum of small decision trees, made by
 * `npm run bench -- content --train` from pages whose main content people have marked.
 */
import { COLUMNS, type Column } from "./columns.ts";
import { BASE, COLUMN_NAMES, TREES } from "./trees.ts";

/** Trees one after the other in flat lists: a node asks a column, or is a leaf (column −1) and adds its value. */
interface Forest {
  columns: readonly Column[];
  column: Int16Array;
  /** Below it to the left, else to the right; of a leaf, what it adds. */
  limit: Float64Array;
  right: Int32Array;
  roots: Int32Array;
}

let forest: Forest | null = null;

/** The columns that a row must have. */
export function modelColumns(): readonly Column[] {
  return (forest ??= readForest()).columns;
}

/** After so many trees, what is this far from content is not asked further. */
const SOME = 40;
const HOPELESS = -3.5;

export function likelihood(row: Float32Array): number {
  const { column, limit, right, roots } = (forest ??= readForest());
  let sum = BASE;
  for (let tree = 0; tree < roots.length && !(tree === SOME && sum < HOPELESS); tree += 1) {
    let node = roots[tree]!;
    while (column[node]! >= 0) node = row[column[node]!]! < limit[node]! ? node + 1 : right[node]!;
    sum += limit[node]!;
  }
  return 1 / (1 + Math.exp(-sum));
}

/** A tree is written from its root: `3<0.25` and what follows when it is so, then the other side; `=0.1` is a leaf. */
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
