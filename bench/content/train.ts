/** Trains the main-content model on annotated pages. */
import { parsePage } from "../../src/extract/page.ts";
import type { BlockPage } from "../../src/extract/main-content/blocks.ts";
import { readPageBlocks } from "../../src/extract/main-content/find.ts";
import { COLUMNS, readRows } from "../../src/extract/main-content/columns.ts";
import { contextOf } from "../../src/extract/main-content/context.ts";
import { survey } from "../../src/extract/main-content/survey.ts";
import { alignBlocks } from "./align.ts";
import { type Binned, binTable, boost, type BoostedModel, type Examples, sequence, type TreeNode } from "./boosting.ts";
import type { Corpus, MarkedPage } from "./corpus.ts";
import { wordsOf } from "./score.ts";

/** A page with one table row per block. */
export interface TrainingPage extends MarkedPage, BlockPage {
  corpus: Corpus;
  first: number;
}

export interface TrainingSet {
  pages: TrainingPage[];
  binned: Binned;
  labels: Float64Array;
  weights: Float64Array;
}

export function readTrainingSet(corpora: readonly Corpus[]): TrainingSet {
  const pages: TrainingPage[] = [];
  const rows: Float32Array[] = [];
  const labels: number[] = [];
  const weights: number[] = [];
  for (const corpus of corpora) {
    for (const page of corpus.pages) {
      const { facts } = parsePage({ body: page.html, contentType: "text/html", url: page.url });
      const context = contextOf(facts);
      const found = readPageBlocks(facts.document);
      if (found === null) continue;
      const { blocks, boxes, body } = found;
      pages.push({ ...page, corpus, blocks, boxes, body, first: rows.length });
      readRows(survey(found, context.title), context, COLUMNS, (row) => rows.push(row.slice()));
      const words = blocks.map(({ text }) => wordsOf(text.toLowerCase()));
      const wanted = wordsOf(page.truth.toLowerCase());
      const hits = alignBlocks(words, wanted);
      const all = words.reduce((sum, list) => sum + list.length, 0);
      for (const [index, list] of words.entries()) {
        labels.push(list.length === 0 ? 0 : hits[index]! / list.length);
        // All pages have the same weight, whatever their length.
        weights.push(list.length / (wanted.length + all / 4 + 20));
      }
    }
  }
  const values = new Float32Array(rows.length * COLUMNS.length);
  for (const [index, row] of rows.entries()) values.set(row, index * COLUMNS.length);
  const binned = binTable({ rows: rows.length, width: COLUMNS.length, values });
  return { pages, binned, labels: Float64Array.from(labels), weights: Float64Array.from(weights) };
}

/** Blocks with less weight are subsampled, so that training takes one minute instead of ten. */
const SMALL = 0.004;

export function train(set: TrainingSet, uses: (page: TrainingPage) => boolean): BoostedModel {
  const random = sequence(5);
  const rows: number[] = [];
  const weights = new Float64Array(set.weights.length);
  for (const page of set.pages) {
    for (let row = page.first; row < page.first + page.blocks.length; row += 1) {
      const chance = Math.min(1, set.weights[row]! / SMALL);
      if (random() >= chance || !uses(page)) continue;
      rows.push(row);
      weights[row] = set.weights[row]! / chance;
    }
  }
  const examples: Examples = { rows: Int32Array.from(rows), labels: set.labels, weights };
  return boost(set.binned, examples);
}

export function likelihoods({ base, trees }: BoostedModel, { binned }: TrainingSet, page: TrainingPage): number[] {
  const { values, width } = binned.table;
  return page.blocks.map((_, index) => {
    const row = values.subarray((page.first + index) * width, (page.first + index + 1) * width);
    return 1 / (1 + Math.exp(-trees.reduce((sum, tree) => sum + valueOf(tree, row), base)));
  });
}

function valueOf(tree: TreeNode, row: Float32Array): number {
  let node = tree;
  while ("column" in node) node = row[node.column]! < node.limit ? node.left : node.right;
  return node.value;
}

/** In the format of `src/extract/main-content/trees.ts`. */
export function writeModel({ base, trees }: BoostedModel): string {
  const used: number[] = [];
  const number = (value: number) => String(Number(value.toPrecision(4)));
  const write = (node: TreeNode): string => {
    if ("value" in node) return `=${number(node.value)}`;
    let column = used.indexOf(node.column);
    if (column < 0) column = used.push(node.column) - 1;
    return `${column}<${number(node.limit)} ${write(node.left)} ${write(node.right)}`;
  };
  const lines = trees.map(write);
  return `/** Made by \`npm run bench -- content FOLDER … --train\`; not written by hand. */
export const BASE = ${number(base)};
export const COLUMN_NAMES =
  "${used.map((column) => COLUMNS[column]!.name).join(" ")}";
export const TREES = \`
${lines.join("\n")}
\`;
`;
}
