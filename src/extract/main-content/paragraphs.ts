/** Adds short paragraphs within an article, which look like captions or notes in isolation. */
import type { Block, BlockPage } from "./blocks.ts";
import type { Box } from "./boxes.ts";
import { ELSEWHERE } from "./lists.ts";
import { OTHERS } from "./survey.ts";

/** Minimal share of chosen words among the paragraphs of a box. */
const MIN_SHARE = 0.9;
const MIN_CHOSEN = 3;

interface Paragraphs {
  words: number;
  chosenWords: number;
  chosen: number;
  missing: number[];
}

/** Chooses plain sentences in `<p>` when nearly all other paragraphs of the box are chosen. */
export function withParagraphs({ blocks }: BlockPage, chosen: readonly boolean[]): boolean[] {
  const byParent = new Map<Box, Paragraphs>();
  for (const [index, block] of blocks.entries()) {
    const { box } = block;
    if (box.element.tag.name !== "p" || box.parent === null || box.hidden) continue;
    let group = byParent.get(box.parent);
    if (group === undefined) byParent.set(box.parent, (group = { words: 0, chosenWords: 0, chosen: 0, missing: [] }));
    group.words += block.words;
    if (chosen[index]) {
      group.chosenWords += block.words;
      group.chosen += 1;
    } else if (isPlainSentence(block)) group.missing.push(index);
  }
  const all = [...chosen];
  for (const group of byParent.values()) {
    if (group.chosen < MIN_CHOSEN || group.chosenWords < MIN_SHARE * group.words) continue;
    for (const index of group.missing) all[index] = true;
  }
  return all;
}

function isPlainSentence({ box, text, words, sentences, links, strongWords }: Block): boolean {
  if (sentences === 0 || links > 0 || strongWords * 2 > words) return false;
  return (box.marks & ELSEWHERE) === 0 && !OTHERS.test(text);
}
