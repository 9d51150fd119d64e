/** Adds link lists within the content, which the model mistakes for navigation. */
import type { Block, BlockPage } from "./blocks.ts";
import { type Box, TAGS } from "./boxes.ts";
import { isHeading, MARK_NAMES } from "./marks.ts";
import { OTHERS } from "./survey.ts";

const LISTS = new Set(["ul", "ol"]);
/** The bits of marks of parts that are no content. */
export const ELSEWHERE = bitsOf("nav", "sidebar", "related", "advert", "social", "signup", "comment", "card");
/** A list may be named like one: `wp-block-list`. */
const CARD = bitsOf("card");

function tagBits(...names: string[]): number {
  return names.map((name) => 1 << TAGS.indexOf(name)).reduce((bits, bit) => bits | bit);
}

function bitsOf(...names: string[]): number {
  return names.map((name) => 1 << MARK_NAMES.indexOf(name)).reduce((bits, bit) => bits | bit);
}

/** A list of tags or categories. */
const META = bitsOf("meta");
const SURROUNDINGS = tagBits("nav", "footer", "aside", "form");
const STORY = tagBits("article", "main");

const MAX_ANNOUNCEMENT = 12;
/** Shorter ones announce furniture as often: `Filed under:`, `By the same author:`. */
const MIN_INTRODUCTION = 5;
/** Of a pager (`Next`), less. */
const MIN_ITEM_WORDS = 3;
/** Introductions of other pages, beside `OTHERS`. */
const ELSEWHERE_INTRODUCED =
  /\b(?:also|liked?|enjoyed|next|other|same|further|topics?|tags?|tagged|filed|posted|comments?|stories|articles|subjects?|series|partners?|find us|connect with|auch|thema|themen|lesen|sujet|thèmes?|temas?|etiquetas|argomenti|темы|теме)\b/iu;
/** Headings of what an article is based on. */
const SOURCES =
  /^(?:(?:list of |selected )?(?:sources|references|footnotes|bibliography|works cited)(?: (?:and|&) (?:sources|references|notes|further reading|citations|footnotes))?|notes (?:and|&) (?:references|sources)|quellen(?:angaben|verzeichnis)?|einzelnachweise|literaturverzeichnis|fußnoten|références|bibliographie|notes et références|fuentes|referencias|bibliografía|fonti|bibliografia|fontes|referências|źródła|przypisy|источники|bronnen|voetnoten|källor|referenser|kilder|referanser|kaynaklar|kaynakça|参考文献|参考资料|參考資料|脚注|出典|출처|참고 ?문헌)\s*[:：]?$/iu;

/** A list that belongs to the chosen text before it is chosen as well. */
export function withLists({ blocks, boxes }: BlockPage, chosen: readonly boolean[]): boolean[] {
  const all = [...chosen];
  for (const box of boxes) {
    if (!LISTS.has(box.element.tag.name) || box.blocks === 0 || isElsewhere(box)) continue;
    const at = box.firstBlock - 1;
    const before = blocks[at];
    if (before === undefined || !isBeside(box, before)) continue;
    const names = isNamingSources(before) && isChapter(before, blocks[at - 1], all[at - 1]);
    if (!names && (!all[at] || !belongsTo(before, box, blocks, chosen))) continue;
    // The heading looks like furniture, too.
    if (names) all[at] = true;
    for (let index = box.firstBlock; index < box.firstBlock + box.blocks; index += 1)
      if (!all[index] && isOfList(blocks[index]!, box)) all[index] = true;
  }
  return all;
}

function belongsTo(before: Block, list: Box, blocks: readonly Block[], chosen: readonly boolean[]): boolean {
  return (isIntroduction(before) && (list.marks & META) === 0) || continues(before, list, blocks, chosen);
}

/** Hidden, in a footer, or named like a part that is no content. A list may be named like one, though. */
function isElsewhere({ hidden, inFooter, marks, tags }: Box): boolean {
  return hidden || inFooter || (marks & ELSEWHERE & ~CARD) !== 0 || (tags & SURROUNDINGS) !== 0;
}

/** Items of a list may be advertisements, or have buttons to share them. */
function isOfList({ box }: Block, list: Box): boolean {
  for (let up: Box | null = box; up !== null && up !== list; up = up.parent) if (isElsewhere(up)) return false;
  return true;
}

/** `These are the tools that we use:` */
function isIntroduction({ box, text, words }: Block): boolean {
  if (isHeading(box.element) || words < MIN_INTRODUCTION || !/[:：]$/.test(text)) return false;
  return !OTHERS.test(text) && !ELSEWHERE_INTRODUCED.test(text);
}

function isNamingSources({ box, text }: Block): boolean {
  return isHeading(box.element) && !box.hidden && SOURCES.test(text);
}

/** The heading follows chosen text, in the same box or as the beginning of a section. */
function isChapter({ box: { parent } }: Block, above: Block | undefined, isChosen: boolean | undefined): boolean {
  if (parent === null || above === undefined || isChosen !== true) return false;
  if (above.box === parent || partOf(parent, above.box) !== null) return true;
  if (parent.parent === null || isElsewhere(parent) || (parent.marks & (META | CARD)) !== 0) return false;
  // Behind the whole story, it is a part of the page.
  const part = partOf(parent.parent, above.box);
  return above.box === parent.parent || (part !== null && (part.tags & STORY) === 0);
}

/** The child of `around` that `box` is, or is in; null: it is outside. */
function partOf(around: Box, box: Box): Box | null {
  for (let up = box; up.parent !== null; up = up.parent) if (up.parent === around) return up;
  return null;
}

/** Unnamed, and the content continues behind it: in the same box, or in the next section. */
function continues(before: Block, list: Box, blocks: readonly Block[], chosen: readonly boolean[]): boolean {
  if ((list.marks & CARD) !== 0 || (before.words < MAX_ANNOUNCEMENT && OTHERS.test(before.text))) return false;
  const end = list.firstBlock + list.blocks;
  const next = blocks[end];
  if (next === undefined || !chosen[end]) return false;
  if (isBeside(list, next)) return true;
  const section = list.parent;
  if (section === null || section.element.tag.name !== "section" || list.words < MIN_ITEM_WORDS * list.blocks)
    return false;
  return isBeside(section, next) || next.box.parent?.parent === section.parent;
}

/** A paragraph or heading in the same box. */
function isBeside(box: Box, block: Block): boolean {
  return block.box.parent === box.parent || block.box === box.parent;
}
