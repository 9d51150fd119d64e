/** Trains the main-content models on annotated pages. */
import { parsePage } from "../../src/extract/page.ts";
import type { Survey } from "../../src/extract/main-content/survey.ts";
import { readPageBlocks } from "../../src/extract/main-content/find.ts";
import { OWN_COLUMNS, TYPE_COLUMNS } from "../../src/extract/main-content/columns.ts";
import { contextOf } from "../../src/extract/main-content/context.ts";
import { survey } from "../../src/extract/main-content/survey.ts";
import { readTable } from "../../src/extract/main-content/table.ts";
import { alignBlocks } from "./align.ts";
import { type Binned, binTable, boost, type BoostedModel, type Examples, sequence } from "./boosting.ts";
import type { Corpus, MarkedPage } from "./corpus.ts";
import { sumOf, typeTable, validatedTypes } from "./types.ts";
import { wordsOf } from "./score.ts";

/** A page with one table row per block. */
export interface TrainingPage extends MarkedPage {
  corpus: Corpus;
  surveyed: Survey;
  first: number;
}

export interface TrainingSet {
  pages: TrainingPage[];
  /** One row per block, and one row per page. */
  binned: Binned;
  types: Binned;
  labels: Float64Array;
  weights: Float64Array;
}

const WIDTH = OWN_COLUMNS.length + TYPE_COLUMNS.length;

export function readTrainingSet(corpora: readonly Corpus[]): TrainingSet {
  const pages: TrainingPage[] = [];
  const tables: Float32Array[] = [];
  const labels: number[] = [];
  const weights: number[] = [];
  for (const corpus of corpora) {
    for (const page of corpus.pages) {
      const { facts } = parsePage({ body: page.html, contentType: "text/html", url: page.url });
      const context = contextOf(facts);
      const found = readPageBlocks(facts.document);
      if (found === null || found.blocks.length === 0) continue;
      const surveyed = survey(found, context.title);
      pages.push({ ...page, corpus, surveyed, first: labels.length });
      tables.push(readTable(surveyed, context, TYPE_COLUMNS.length));
      label(surveyed, page.truth, labels, weights);
    }
  }
  const values = new Float32Array(labels.length * WIDTH);
  let at = 0;
  for (const table of tables) {
    values.set(table, at);
    at += table.length;
  }
  const types = typeTable(pages, tables, WIDTH);
  const likely = validatedTypes(pages, types);
  for (const [index, page] of pages.entries())
    for (let row = page.first; row < page.first + page.surveyed.blocks.length; row += 1)
      values.set(likely[index]!, row * WIDTH + OWN_COLUMNS.length);
  const binned = binTable({ rows: labels.length, width: WIDTH, values });
  return { pages, binned, types, labels: Float64Array.from(labels), weights: Float64Array.from(weights) };
}

const MIN_COPY_WORDS = 4;
const COPY_WEIGHT = 0.15;

function label({ blocks }: Survey, truth: string, labels: number[], weights: number[]): void {
  const words = blocks.map(({ text }) => wordsOf(text.toLowerCase()));
  const wanted = wordsOf(truth.toLowerCase());
  const hits = alignBlocks(words, wanted);
  const all = words.reduce((sum, list) => sum + list.length, 0);
  const shares = words.map((list, index) => (list.length === 0 ? 0 : hits[index]! / list.length));
  const best = new Map<string, number>();
  for (const [index, { text }] of blocks.entries()) best.set(text, Math.max(best.get(text) ?? 0, shares[index]!));
  for (const [index, list] of words.entries()) {
    const share = shares[index]!;
    labels.push(share);
    // Of two copies, the alignment takes one; the other is hardly wrong.
    const isCopy = list.length >= MIN_COPY_WORDS && share < 0.5 && best.get(blocks[index]!.text)! >= 0.5;
    // All pages have the same weight, whatever their length.
    weights.push(((isCopy ? COPY_WEIGHT : 1) * list.length) / (wanted.length + all / 4 + 20));
  }
}

/** Blocks with less weight are subsampled, so that training takes one minute instead of ten. */
const SMALL = 0.004;

export function train(set: TrainingSet, uses: (page: TrainingPage) => boolean): BoostedModel {
  const random = sequence(5);
  const rows: number[] = [];
  const weights = new Float64Array(set.weights.length);
  for (const page of set.pages) {
    for (let row = page.first; row < page.first + page.surveyed.blocks.length; row += 1) {
      const chance = Math.min(1, set.weights[row]! / SMALL);
      if (random() >= chance || !uses(page)) continue;
      rows.push(row);
      weights[row] = set.weights[row]! / chance;
    }
  }
  const examples: Examples = { rows: Int32Array.from(rows), labels: set.labels, weights };
  return boost(set.binned, examples);
}

export function likelihoods(model: BoostedModel, { binned }: TrainingSet, page: TrainingPage): number[] {
  const { values, width } = binned.table;
  return page.surveyed.blocks.map((_, index) => {
    const row = values.subarray((page.first + index) * width, (page.first + index + 1) * width);
    return 1 / (1 + Math.exp(-sumOf(model, row)));
  });
}
