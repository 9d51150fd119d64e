/** Selects the main content blocks by their likelihoods. */
import type { Block } from "./blocks.ts";
import type { Survey } from "./survey.ts";

/** A text of at least this many words in two parts of the page counts once; a refrain repeats within one part. */
const MIN_COPY_WORDS = 8;

/** How much of a likelihood is that of all blocks of the same shape. */
const SHAPE_SHARE = 0.8;
const CERTAIN = 1e-6;

/** Blocks of the same shape, such as the titles of all cards, belong together: each is moved towards their mean. */
export function alike({ shapes }: Survey, likelihoods: readonly number[]): number[] {
  const sums = new Map<object, { sum: number; count: number }>();
  const logits = likelihoods.map((value) => Math.log(Math.max(CERTAIN, value) / Math.max(CERTAIN, 1 - value)));
  for (const [index, shape] of shapes.entries()) {
    const group = sums.get(shape);
    if (group === undefined) sums.set(shape, { sum: logits[index]!, count: 1 });
    else {
      group.sum += logits[index]!;
      group.count += 1;
    }
  }
  return logits.map((logit, index) => {
    const { sum, count } = sums.get(shapes[index]!)!;
    return 1 / (1 + Math.exp(-(SHAPE_SHARE * (sum / count) + (1 - SHAPE_SHARE) * logit)));
  });
}

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
