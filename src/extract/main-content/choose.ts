/** Which blocks are the main content, by how likely each of them is. */
import type { Block } from "./blocks.ts";

/** A text of so many words that stands in two parts of the page is shown once; a refrain stands in one. */
const COPY = 8;

/**
 * The set whose expected F1 is highest: the likeliest blocks, as many as pay. A limit of one half would leave out too
 * much of pages that nobody is sure about, such as lists.
 */
export function chooseBlocks(blocks: readonly Block[], likely: readonly number[]): boolean[] {
  const values = withoutCopies(blocks, likely);
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

function withoutCopies(blocks: readonly Block[], likely: readonly number[]): number[] {
  const best = new Map<string, number>();
  for (const [index, { text, words }] of blocks.entries()) {
    if (words < COPY) continue;
    const other = best.get(text);
    if (other === undefined || likely[other]! < likely[index]!) best.set(text, index);
  }
  return likely.map((value, index) => {
    const { text, words, box } = blocks[index]!;
    const shown = words < COPY ? undefined : best.get(text);
    return shown === undefined || blocks[shown]!.box.parent === box.parent ? value : 0;
  });
}
