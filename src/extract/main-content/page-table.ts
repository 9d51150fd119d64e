/** The features of a page as a whole: the means of its blocks' features. */
import type { Block } from "./blocks.ts";

/** Long blocks count for more, but not in proportion: a page of cards has few words in many blocks. */
export function pageRow(blocks: readonly Block[], table: Float32Array, width: number): Float32Array {
  const sums = new Float64Array(width);
  let total = 0;
  for (const [index, { words }] of blocks.entries()) {
    const weight = Math.sqrt(words);
    total += weight;
    for (let column = 0; column < width; column += 1) sums[column]! += weight * table[index * width + column]!;
  }
  return Float32Array.from(sums, (sum) => sum / Math.max(1, total));
}
