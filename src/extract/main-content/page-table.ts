/** The features of a page as a whole: the means of its blocks' features. */
import type { Block } from "./blocks.ts";

/**
 * Long blocks count for more, but not in proportion: a page of cards has few words in many blocks. Columns that are not
 * wanted are 0.
 */
export function pageRow(
  blocks: readonly Block[],
  table: Float32Array,
  width: number,
  wanted: readonly number[] = Array.from({ length: width }, (_, column) => column),
): Float32Array {
  const sums = new Float64Array(width);
  let total = 0;
  for (const [index, { words }] of blocks.entries()) {
    const weight = Math.sqrt(words);
    total += weight;
    for (const column of wanted) sums[column]! += weight * table[index * width + column]!;
  }
  return Float32Array.from(sums, (sum) => sum / Math.max(1, total));
}
