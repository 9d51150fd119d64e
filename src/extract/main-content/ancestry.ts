/** Where a box is on its page: computed once per box, from that of its parent. */
import type { Box } from "./boxes.ts";
import { type Grid, NO_GRID } from "./grids.ts";
import type { Survey } from "./survey.ts";

export interface Ancestry {
  /** The nearest ancestor with more blocks. */
  above: Box | null;
  /** The outermost ancestor, or itself, that is one of several of the same shape. */
  item: Box | null;
  /** The grids of its outermost and its innermost item. */
  outer: Grid;
  inner: Grid;
  isInLargest: boolean;
  /** The nearest ancestor, or itself, with the prose, and with the title. */
  withProse: Box;
  withTitle: Box;
}

const PARAGRAPHS = new Set("p h1 h2 h3 h4 h5 h6".split(" "));
const MIN_REPEATS = 3;

/** By `Box.at`. */
export function ancestriesOf(page: Survey): Ancestry[] {
  const ancestries: Ancestry[] = [];
  const { boxes, grids, largestArticle, prosePath, titlePath } = page;
  // In document order: the parent comes first.
  for (const box of boxes) {
    const { parent } = box;
    const grid = grids.ofBox[box.at]!;
    const isItem = box.repeats >= MIN_REPEATS && !PARAGRAPHS.has(box.element.tag.name);
    if (parent === null) {
      const around = { above: null, outer: grid, inner: grid, withProse: box, withTitle: box };
      ancestries.push({ ...around, item: isItem ? box : null, isInLargest: box === largestArticle });
      continue;
    }
    const up = ancestries[parent.at]!;
    ancestries.push({
      above: parent.blocks > box.blocks ? parent : up.above,
      item: up.item ?? (isItem ? box : null),
      outer: up.outer === NO_GRID ? grid : up.outer,
      inner: grid === NO_GRID ? up.inner : grid,
      isInLargest: up.isInLargest || box === largestArticle,
      withProse: prosePath.has(box) ? box : up.withProse,
      withTitle: titlePath.has(box) ? box : up.withTitle,
    });
  }
  return ancestries;
}
