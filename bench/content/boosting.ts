/** Gradient-boosted decision trees for binary classification on binned values. */

export interface Table {
  rows: number;
  width: number;
  /** Row-major. */
  values: Float32Array;
}

/** A node compares a column with a threshold, or is a leaf with its score. */
export type TreeNode = { column: number; limit: number; left: TreeNode; right: TreeNode } | { value: number };

export interface BoostedModel {
  base: number;
  trees: TreeNode[];
}

export interface Settings {
  trees: number;
  leaves: number;
  rate: number;
  lambda: number;
  leastWeight: number;
  columnShare: number;
}

export const SETTINGS: Settings = { trees: 120, leaves: 16, rate: 0.12, lambda: 5, leastWeight: 3, columnShare: 0.25 };

const BINS = 48;
const SAMPLE = 20_000;

/** The bin thresholds of each column, and the bin of each value. */
export interface Binned {
  table: Table;
  limits: Float32Array[];
  bins: Uint8Array;
}

export function binTable(table: Table): Binned {
  const { rows, width, values } = table;
  const limits = Array.from({ length: width }, (_, column) => limitsOf(table, column));
  const bins = new Uint8Array(rows * width);
  for (let index = 0; index < bins.length; index += 1) bins[index] = binOf(limits[index % width]!, values[index]!);
  return { table, limits, bins };
}

function limitsOf({ rows, width, values }: Table, column: number): Float32Array {
  const step = Math.max(1, Math.floor(rows / SAMPLE));
  const sample = new Float32Array(Math.ceil(rows / step));
  for (let index = 0; index < sample.length; index += 1) sample[index] = values[index * step * width + column]!;
  sample.sort();
  const unique = [...new Set(sample)];
  if (unique.length <= BINS) return Float32Array.from(unique.slice(1), (value, index) => (unique[index]! + value) / 2);
  const limits = new Set<number>();
  for (let part = 1; part < BINS; part += 1) limits.add(sample[Math.floor((part * sample.length) / BINS)]!);
  return Float32Array.from(limits);
}

function binOf(limits: Float32Array, value: number): number {
  let [low, high] = [0, limits.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (value >= limits[middle]!) low = middle + 1;
    else high = middle;
  }
  return low;
}

export interface Examples {
  /** Indices of the training rows. */
  rows: Int32Array;
  /** Labels between 0 and 1, and weights; by row. */
  labels: Float64Array;
  weights: Float64Array;
}

interface Leaf {
  rows: Int32Array;
  histogram: Float64Array;
  gradient: number;
  weight: number;
  split: { gain: number; column: number; bin: number } | null;
  children: [Leaf, Leaf] | null;
}

export function boost(binned: Binned, examples: Examples, settings = SETTINGS): BoostedModel {
  const { rows, labels, weights } = examples;
  const random = sequence(7);
  let [all, positive] = [0, 0];
  for (const row of rows) {
    all += weights[row]!;
    positive += weights[row]! * labels[row]!;
  }
  const base = Math.log(positive / (all - positive));
  const scale = 30_000 / all;
  const sums = new Float64Array(binned.table.rows).fill(base);
  const gradients = new Float64Array(binned.table.rows);
  const curvatures = new Float64Array(binned.table.rows);
  const trees: TreeNode[] = [];
  while (trees.length < settings.trees) {
    for (const row of rows) {
      const likely = 1 / (1 + Math.exp(-sums[row]!));
      gradients[row] = weights[row]! * scale * (labels[row]! - likely);
      curvatures[row] = weights[row]! * scale * likely * (1 - likely);
    }
    const columns = binned.limits.flatMap((limits, column) =>
      limits.length > 0 && random() < settings.columnShare ? [column] : [],
    );
    const root = new TreeGrower(binned, columns, gradients, curvatures, settings).grow(rows);
    trees.push(toNode(root, binned, settings, sums));
  }
  return { base, trees };
}

class TreeGrower {
  readonly #binned: Binned;
  readonly #columns: readonly number[];
  readonly #gradients: Float64Array;
  readonly #curvatures: Float64Array;
  readonly #settings: Settings;

  constructor(
    binned: Binned,
    columns: readonly number[],
    gradients: Float64Array,
    curvatures: Float64Array,
    settings: Settings,
  ) {
    this.#binned = binned;
    this.#columns = columns;
    this.#gradients = gradients;
    this.#curvatures = curvatures;
    this.#settings = settings;
  }

  grow(rows: Int32Array): Leaf {
    const root = this.#leaf(rows, this.#histogram(rows));
    const leaves = [root];
    while (leaves.length < this.#settings.leaves) {
      const best = leaves.reduce((one, other) => ((other.split?.gain ?? 0) > (one.split?.gain ?? 0) ? other : one));
      if (best.split === null) break;
      leaves.splice(leaves.indexOf(best), 1, ...this.#divide(best, best.split));
    }
    return root;
  }

  #divide(leaf: Leaf, { column, bin }: { column: number; bin: number }): [Leaf, Leaf] {
    const { bins, table } = this.#binned;
    const isLeft = (row: number) => bins[row * table.width + column]! <= bin;
    const [left, right] = [leaf.rows.filter(isLeft), leaf.rows.filter((row) => !isLeft(row))];
    // Count the histogram of the smaller side; the other one is the difference.
    const counted = this.#histogram(left.length < right.length ? left : right);
    const rest = leaf.histogram.map((value, index) => value - counted[index]!);
    leaf.children =
      left.length < right.length
        ? [this.#leaf(left, counted), this.#leaf(right, rest)]
        : [this.#leaf(left, rest), this.#leaf(right, counted)];
    return leaf.children;
  }

  #histogram(rows: Int32Array): Float64Array {
    const { bins, table } = this.#binned;
    const columns = this.#columns;
    const histogram = new Float64Array(columns.length * BINS * 2);
    for (let index = 0; index < rows.length; index += 1) {
      const row = rows[index]!;
      const [gradient, curvature] = [this.#gradients[row]!, this.#curvatures[row]!];
      for (let at = 0; at < columns.length; at += 1) {
        const slot = (at * BINS + bins[row * table.width + columns[at]!]!) * 2;
        histogram[slot]! += gradient;
        histogram[slot + 1]! += curvature;
      }
    }
    return histogram;
  }

  #leaf(rows: Int32Array, histogram: Float64Array): Leaf {
    let [gradient, weight] = [0, 0];
    for (let bin = 0; bin < BINS; bin += 1) {
      gradient += histogram[bin * 2]!;
      weight += histogram[bin * 2 + 1]!;
    }
    return { rows, histogram, gradient, weight, split: this.#bestSplit(histogram, gradient, weight), children: null };
  }

  #bestSplit(histogram: Float64Array, gradient: number, weight: number): Leaf["split"] {
    const { lambda, leastWeight } = this.#settings;
    const score = (sum: number, size: number) => (sum * sum) / (size + lambda);
    let best: Leaf["split"] = null;
    for (const [at, column] of this.#columns.entries()) {
      let [left, size] = [0, 0];
      for (let bin = 0; bin < this.#binned.limits[column]!.length; bin += 1) {
        left += histogram[(at * BINS + bin) * 2]!;
        size += histogram[(at * BINS + bin) * 2 + 1]!;
        if (size < leastWeight || weight - size < leastWeight) continue;
        const gain = score(left, size) + score(gradient - left, weight - size) - score(gradient, weight);
        if (gain > (best?.gain ?? 1e-6)) best = { gain, column, bin };
      }
    }
    return best;
  }
}

/** The finished tree; adds the leaf scores to the sums of their rows. */
function toNode(leaf: Leaf, binned: Binned, settings: Settings, sums: Float64Array): TreeNode {
  if (leaf.children === null || leaf.split === null) {
    const value = (settings.rate * leaf.gradient) / (leaf.weight + settings.lambda);
    for (const row of leaf.rows) sums[row]! += value;
    return { value };
  }
  const { column, bin } = leaf.split;
  const [left, right] = leaf.children.map((child) => toNode(child, binned, settings, sums)) as [TreeNode, TreeNode];
  return { column, limit: binned.limits[column]![bin]!, left, right };
}

/** A seeded sequence. */
export function sequence(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}
