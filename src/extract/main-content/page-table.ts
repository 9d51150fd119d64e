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
  const columns = Int32Array.from(wanted);
  const sums = new Float64Array(columns.length);
  let total = 0;
  for (let index = 0; index < blocks.length; index += 1) {
    const weight = Math.sqrt(blocks[index]!.words);
    const from = index * width;
    total += weight;
    for (let at = 0; at < columns.length; at += 1) sums[at]! += weight * table[from + columns[at]!]!;
  }
  const row = new Float32Array(width);
  for (let at = 0; at < columns.length; at += 1) row[columns[at]!] = sums[at]! / Math.max(1, total);
  return row;
}
