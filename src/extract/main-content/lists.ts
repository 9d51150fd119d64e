/** Adds link lists within the content, which the model mistakes for navigation. */
import type { Block, BlockPage } from "./blocks.ts";
import type { Box } from "./boxes.ts";
import { MARK_NAMES } from "./marks.ts";
import { OTHERS } from "./survey.ts";

const LISTS = new Set(["ul", "ol"]);
/** The bits of marks of parts that are no content. */
export const ELSEWHERE = ["nav", "sidebar", "related", "advert", "social", "signup", "comment", "card"]
  .map((name) => 1 << MARK_NAMES.indexOf(name))
  .reduce((bits, bit) => bits | bit);

/** An unnamed list between two chosen blocks of the same box is chosen as well. */
export function withLists({ blocks, boxes }: BlockPage, chosen: readonly boolean[]): boolean[] {
  const all = [...chosen];
  for (const box of boxes) {
    if (!LISTS.has(box.element.tag.name) || box.blocks === 0 || box.hidden) continue;
    if ((box.marks & ELSEWHERE) !== 0) continue;
    const end = box.firstBlock + box.blocks;
    if (!isBeside(box, blocks[box.firstBlock - 1]) || !isBeside(box, blocks[end])) continue;
    const { text, words } = blocks[box.firstBlock - 1]!;
    const announcesOthers = words < 12 && OTHERS.test(text);
    if (!announcesOthers && chosen[box.firstBlock - 1] && chosen[end]) all.fill(true, box.firstBlock, end);
  }
  return all;
}

/** A paragraph or heading in the same box as the list. */
function isBeside(list: Box, block: Block | undefined): boolean {
  return block !== undefined && (block.box.parent === list.parent || block.box === list.parent);
}
