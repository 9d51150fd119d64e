/** Recall and precision of the extracted main content. */
import type { Corpus } from "./corpus.ts";

export interface Score {
  precision: number;
  recall: number;
  f1: number;
  /** Mean F1 by page type, if words are counted. */
  types: Map<string, number>;
}

export function wordsOf(text: string): string[] {
  return text.match(/[\p{L}\p{M}\p{N}_]+/gu) ?? [];
}

/** As the authors of the set score it. */
export function scoreTexts({ pages, measure }: Corpus, texts: ReadonlyMap<string, string>): Score {
  const rows = pages.map(({ id, truth, type }) => {
    const [want, got] = [truth, texts.get(id) ?? ""].map((text) => countsOf(text, measure)) as [Counts, Counts];
    return { type, ...compare(got, want) };
  });
  const precision = mean(rows.flatMap((row) => row.precision ?? []));
  const recall = mean(rows.flatMap((row) => row.recall ?? []));
  const types = new Map<string, number>();
  for (const type of new Set(rows.map((row) => row.type)))
    types.set(type, mean(rows.filter((row) => row.type === type).map((row) => row.f1)));
  const f1 = measure === "words" ? mean(rows.map((row) => row.f1)) : harmonic(precision, recall);
  return { precision, recall, f1, types };
}

type Counts = Map<string, number>;

function countsOf(text: string, measure: Corpus["measure"]): Counts {
  const words = wordsOf(measure === "words" ? text.toLowerCase() : text);
  const size = measure === "words" ? 1 : Math.min(4, Math.max(1, words.length));
  const counts: Counts = new Map();
  for (let at = 0; at + size <= words.length; at += 1) {
    const key = words.slice(at, at + size).join(" ");
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

function compare(got: Counts, want: Counts): { precision: number | null; recall: number | null; f1: number } {
  const [found, wanted] = [total(got), total(want)];
  let both = 0;
  for (const [key, count] of got) both += Math.min(count, want.get(key) ?? 0);
  const f1 = wanted === 0 ? Number(found === 0) : (2 * both) / (found + wanted);
  return { precision: found === 0 ? null : both / found, recall: wanted === 0 ? null : both / wanted, f1 };
}

function total(counts: Counts): number {
  let sum = 0;
  for (const count of counts.values()) sum += count;
  return sum;
}

export function mean(list: readonly number[]): number {
  return list.length === 0 ? 0 : list.reduce((sum, value) => sum + value, 0) / list.length;
}

function harmonic(a: number, b: number): number {
  return a + b === 0 ? 0 : (2 * a * b) / (a + b);
}
