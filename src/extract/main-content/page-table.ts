/** The features of a page as a whole: the means of its blocks' features. */
import type { Block } from "./blocks.ts";

/** Of the first `columns` of each row. Long blocks count for more, but not in proportion: a page of cards has few words in many blocks. */
export function pageRow(
  blocks: readonly Block[],
  table: Float32Array,
  width: number,
  columns: number = width,
): Float32Array {
  const sums = new Float64Array(columns);
  let total = 0;
  for (let index = 0; index < blocks.length; index += 1) {
    const weight = Math.sqrt(blocks[index]!.words);
    const from = index * width;
    total += weight;
    for (let column = 0; column < columns; column += 1) sums[column]! += weight * table[from + column]!;
  }
  const row = new Float32Array(width);
  for (let column = 0; column < columns; column += 1) row[column] = sums[column]! / Math.max(1, total);
  return row;
}
