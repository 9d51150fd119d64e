/**
 * The likelihood that a block belongs to the main content. The models are sums of small decision trees, trained by
 * `npm run bench -- content --train` on pages with hand-labelled main content: one for each page type, and one for the
 * blocks, which has the likelihoods of the types among its columns.
 */
import { OWN_COLUMNS, type PageContext, TYPE_COLUMNS } from "./columns.ts";
import { pageRow } from "./page-table.ts";
import type { Survey } from "./survey.ts";
import { readTable, sizeOf } from "./table.ts";
import { COLUMN_NAMES, CONTENT, TYPES } from "./trees.ts";

/** Trees in a flat buffer, node after node: a node tests a column, or is a leaf (column −1) and adds its value. */
interface Forest {
  base: number;
  /** At `2 * node`: the threshold, below which the next node follows; the value of a leaf. */
  limits: Float64Array;
  /** In the same buffer, at `4 * node + 2`: the column, and the node that follows otherwise. */
  links: Int32Array;
  roots: Int32Array;
}

interface Models {
  content: Forest;
  types: Forest[];
}

let models: Models | null = null;

/** Early exit: blocks with a sum below this after so many trees are not evaluated further. */
const EARLY_EXIT_TREES = 40;
const EARLY_EXIT_SUM = -3.5;

const WIDTH = OWN_COLUMNS.length + TYPE_COLUMNS.length;

/** 2 MB: pages of up to 1,800 blocks. */
const MOST_SCRATCH = 500_000;
let kept = new Float32Array(0);

/** A table for one call: a new one for each page makes the garbage collector run once in a hundred pages. */
function scratch(size: number): Float32Array {
  if (size > MOST_SCRATCH) return new Float32Array(size);
  if (kept.length < size) kept = new Float32Array(Math.min(MOST_SCRATCH, 2 * size));
  return kept;
}

/** One likelihood per block. */
export function likelihoods(page: Survey, context: PageContext): number[] {
  const { content, types } = (models ??= readModels());
  const table = readTable(page, context, TYPE_COLUMNS.length, scratch(sizeOf(page, TYPE_COLUMNS.length)));
  const mean = pageRow(page.blocks, table, WIDTH, OWN_COLUMNS.length);
  for (const [index, forest] of types.entries()) {
    const value = sigmoid(sumOf(forest, mean, 0));
    for (let row = 0; row < page.blocks.length; row += 1) table[row * WIDTH + OWN_COLUMNS.length + index] = value;
  }
  return page.blocks.map((_, row) => sigmoid(sumOf(content, table, row * WIDTH)));
}

function sigmoid(sum: number): number {
  return 1 / (1 + Math.exp(-sum));
}

function sumOf({ base, limits, links, roots }: Forest, values: Float32Array, from: number): number {
  let sum = base;
  for (let tree = 0; tree < roots.length && !(tree === EARLY_EXIT_TREES && sum < EARLY_EXIT_SUM); tree += 1) {
    let node = roots[tree]!;
    let column = links[4 * node + 2]!;
    while (column >= 0) {
      node = values[from + column]! < limits[2 * node]! ? node + 1 : links[4 * node + 3]!;
      column = links[4 * node + 2]!;
    }
    sum += limits[2 * node]!;
  }
  return sum;
}

function readModels(): Models {
  const indexes = new Map(OWN_COLUMNS.map((name, index) => [name, index]));
  const columns = COLUMN_NAMES.split(" ").map((name) => {
    const index = indexes.get(name);
    if (index === undefined) throw new Error(`the model asks for "${name}", which is no column`);
    return index;
  });
  // The page types follow the columns that the model names.
  columns.push(...TYPE_COLUMNS.map((_, index) => OWN_COLUMNS.length + index));
  return { content: readForest(CONTENT, columns), types: TYPES.map((text) => readForest(text, columns)) };
}

const LEAF = -1;

/** The base, then trees in preorder, one per line or semicolon: `3<0.25`, its left subtree, its right subtree; `=0.1` is a leaf. */
function readForest(text: string, columns: readonly number[]): Forest {
  const nodes: { column: number; limit: number; right: number }[] = [];
  const [base, ...lines] = text.trim().split(/[\n;]/);
  const roots = lines.map((line) => {
    const words = line.trim().split(" ");
    const root = nodes.length;
    let at = 0;
    const read = () => {
      const [name, value] = (words[at] as string).split(/[<=]/) as [string, string];
      at += 1;
      const node = { column: name === "" ? LEAF : columns[Number(name)]!, limit: Number(value), right: 0 };
      nodes.push(node);
      if (node.column === LEAF) return;
      read();
      node.right = nodes.length;
      read();
    };
    read();
    return root;
  });
  const buffer = new ArrayBuffer(16 * nodes.length);
  const [limits, links] = [new Float64Array(buffer), new Int32Array(buffer)];
  for (const [index, { column, limit, right }] of nodes.entries()) {
    limits[2 * index] = limit;
    links.set([column, right], 4 * index + 2);
  }
  return { base: Number(base), limits, links, roots: Int32Array.from(roots) };
}
