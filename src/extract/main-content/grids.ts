/** Grids: repeated items side by side, such as cards, search results and posts. */
import type { BlockPage } from "./blocks.ts";
import type { Box } from "./boxes.ts";

/** The last heading before a block. */
export interface Chapter {
  at: number;
  level: number;
  /** 1: announces other pages. 2: comments or reviews. 0: other. */
  kind: number;
}

export interface Grid {
  items: number;
  words: number;
  linkWords: number;
  paragraphWords: number;
  images: number;
  prices: number;
  headings: number;
  linkedHeadings: number;
  firstBlock: number;
  /** Kind and level of the heading before it. */
  announced: number;
  level: number;
}

export interface Grids {
  /** By `Box.at`: of an item. */
  ofBox: Grid[];
  /** Words of the largest grid. */
  largest: number;
  mostPrices: number;
}

const MIN_ITEMS = 3;
const PARTS = new Set("p h1 h2 h3 h4 h5 h6 td th dt dd span button label".split(" "));

export const NO_GRID: Grid = {
  items: 0,
  words: 0,
  linkWords: 0,
  paragraphWords: 0,
  images: 0,
  prices: 0,
  headings: 0,
  linkedHeadings: 0,
  firstBlock: 0,
  announced: 0,
  level: 0,
};

export function findGrids({ boxes }: BlockPage, chapters: readonly Chapter[]): Grids {
  const byParent: (Map<number, Grid> | undefined)[] = boxes.map(() => undefined);
  const ofBox = boxes.map(() => NO_GRID);
  let [largest, mostPrices] = [1, 1];
  for (const box of boxes) {
    const { parent } = box;
    if (box.kin < MIN_ITEMS || box.words === 0 || parent === null || PARTS.has(box.element.tag.name)) continue;
    const grids = (byParent[parent.at] ??= new Map<number, Grid>());
    let grid = grids.get(box.outline);
    if (grid === undefined) {
      const before = chapters[box.firstBlock - 1];
      const { firstBlock } = box;
      grid = { ...NO_GRID, firstBlock, announced: before?.kind ?? 0, level: before?.level ?? 0 };
      grids.set(box.outline, grid);
    }
    add(grid, box);
    ofBox[box.at] = grid;
    largest = Math.max(largest, grid.words);
    mostPrices = Math.max(mostPrices, grid.prices);
  }
  return { ofBox, largest, mostPrices };
}

function add(grid: Grid, box: Box): void {
  grid.items += 1;
  grid.words += box.words;
  grid.linkWords += box.linkWords;
  grid.paragraphWords += box.paragraphWords;
  grid.images += box.images;
  grid.prices += box.prices;
  grid.headings += box.headings;
  grid.linkedHeadings += box.linkedHeadings;
}
