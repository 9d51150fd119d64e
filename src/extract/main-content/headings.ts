/** Adds the headings of chosen chapters, whose words alone look like furniture: `Comments`, `Related work`. */
import type { Block, BlockPage } from "./blocks.ts";
import { headingLevel } from "./marks.ts";

const MAX_WORDS = 15;
const MIN_WORDS = 10;

/** A heading between two chosen blocks of its own box is chosen, if text follows. */
export function withHeadings({ blocks }: BlockPage, chosen: readonly boolean[]): boolean[] {
  const all = [...chosen];
  for (const [index, block] of blocks.entries()) {
    if (all[index] || headingLevel(block.box.element) < 2 || block.words > MAX_WORDS || block.box.hidden) continue;
    const next = blocks[index + 1];
    if (next === undefined || !chosen[index + 1] || next.box.parent !== block.box.parent || !isText(next)) continue;
    all[index] = index > 0 && all[index - 1]! && isNear(blocks[index - 1]!, block);
  }
  return all;
}

function isText({ words, linkWords }: Block): boolean {
  return words >= MIN_WORDS && linkWords * 2 < words;
}

/** In the same box, or in the section before. */
function isNear(before: Block, { box }: Block): boolean {
  const { parent } = before.box;
  return parent === box.parent || parent?.parent === box.parent?.parent || parent === box.parent?.parent;
}
