/** Models of the page types, and the likelihoods that they give to pages that they have not seen. */
import { pageRow } from "../../src/extract/main-content/page-table.ts";
import { PAGE_TYPES } from "../../src/extract/main-content/page-type.ts";
import { type Binned, binTable, boost, type BoostedModel, type Settings, type TreeNode } from "./boosting.ts";
import { PARTS, partOf } from "./parts.ts";
import type { TrainingPage } from "./train.ts";

/** Small and slow to learn: there are only some hundred pages. */
const SETTINGS: Settings = { trees: 60, leaves: 6, rate: 0.1, lambda: 200, leastWeight: 200, columnShare: 0.15 };

export function typeTable(pages: readonly TrainingPage[], tables: readonly Float32Array[], width: number): Binned {
  const values = new Float32Array(pages.length * width);
  for (const [index, page] of pages.entries())
    values.set(pageRow(page.surveyed.blocks, tables[index]!, width), index * width);
  return binTable({ rows: pages.length, width, values });
}

/** One model per type. */
export function trainTypes(
  pages: readonly TrainingPage[],
  binned: Binned,
  uses: (page: TrainingPage) => boolean,
): BoostedModel[] {
  const rows = Int32Array.from([...pages.keys()].filter((index) => uses(pages[index]!)));
  const weights = new Float64Array(pages.length).fill(1);
  return PAGE_TYPES.map((type) =>
    boost(binned, { rows, labels: Float64Array.from(pages, (page) => Number(page.type === type)), weights }, SETTINGS),
  );
}

/** The likelihoods of each page's types, by models that have not seen its site. */
export function validatedTypes(pages: readonly TrainingPage[], binned: Binned): Float32Array[] {
  const { values, width } = binned.table;
  const found = pages.map(() => new Float32Array(PAGE_TYPES.length));
  for (let part = 0; part < PARTS; part += 1) {
    const models = trainTypes(pages, binned, (page) => partOf(page) !== part);
    for (const [index, page] of pages.entries()) {
      if (partOf(page) !== part) continue;
      const row = values.subarray(index * width, (index + 1) * width);
      for (const [type, model] of models.entries()) found[index]![type] = 1 / (1 + Math.exp(-sumOf(model, row)));
    }
  }
  return found;
}

export function sumOf({ base, trees }: BoostedModel, row: Float32Array): number {
  let sum = base;
  for (const tree of trees) {
    let node: TreeNode = tree;
    while ("column" in node) node = row[node.column]! < node.limit ? node.left : node.right;
    sum += node.value;
  }
  return sum;
}
