/** Selects the main content blocks by their likelihoods. */
import type { Block } from "./blocks.ts";

/** A text of at least this many words in two parts of the page counts once; a refrain repeats within one part. */
const MIN_COPY_WORDS = 8;

/**
 * Maximizes the expected F1: takes the most likely blocks while they improve it. A fixed threshold of 0.5 would drop too
 * much of uncertain pages, such as lists.
 */
export function chooseBlocks(blocks: readonly Block[], likelihoods: readonly number[]): boolean[] {
  const values = withoutCopies(blocks, likelihoods);
  const order = blocks.map((_, index) => index).sort((a, b) => values[b]! - values[a]! || a - b);
  const expected = values.reduce((sum, value, index) => sum + value * blocks[index]!.words, 0);
  let [right, size, best, count] = [0, 0, 0, 0];
  for (const [rank, index] of order.entries()) {
    right += values[index]! * blocks[index]!.words;
    size += blocks[index]!.words;
    const score = (2 * right) / (size + expected);
    if (score > best) [best, count] = [score, rank + 1];
  }
  const chosen = blocks.map(() => false);
  for (const index of order.slice(0, count)) chosen[index] = true;
  return chosen;
}

function withoutCopies(blocks: readonly Block[], likelihoods: readonly number[]): number[] {
  const best = new Map<string, number>();
  for (const [index, { text, words }] of blocks.entries()) {
    if (words < MIN_COPY_WORDS) continue;
    const other = best.get(text);
    if (other === undefined || likelihoods[other]! < likelihoods[index]!) best.set(text, index);
  }
  return likelihoods.map((value, index) => {
    const { text, words, box } = blocks[index]!;
    const shown = words < MIN_COPY_WORDS ? undefined : best.get(text);
    return shown === undefined || blocks[shown]!.box.parent === box.parent ? value : 0;
  });
}
