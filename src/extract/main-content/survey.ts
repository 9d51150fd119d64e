/** Page-wide statistics of the blocks, computed before each block is scored. */
import type { Block, BlockPage } from "./blocks.ts";
import { LongWords, longWords } from "../article/letters.ts";
import { type Box, PairNumbers } from "./boxes.ts";
import { type Chapter, findGrids, type Grids } from "./grids.ts";
import { headingLevel } from "./marks.ts";

/** Statistics of blocks with the same shape. */
export interface Shape {
  blocks: number;
  words: number;
  linkWords: number;
  sentences: number;
  firstAt: number;
}

export interface Survey extends BlockPage {
  words: number;
  paragraphWords: number;
  shapes: Shape[];
  chapters: Chapter[];
  /** The kind of the nearest enclosing heading that has one. */
  sections: number[];
  grids: Grids;
  titleWords: LongWords;
  /** Words of the longest block. */
  longest: number;
  hiddenWords: number;
  copies: number[];
  /** Prefix sums of words, link words and sentences. */
  wordsBefore: Float64Array;
  linksBefore: Float64Array;
  sentencesBefore: Float64Array;
  firstHeading: number;
  firstLong: number;
  lastLong: number;
  articles: number;
  largestArticle: Box | null;
  /** The boxes from the body down to the one with the prose. */
  prosePath: Set<Box>;
  proseDepth: number;
  /** The heading that matches the page's title; −1: none. */
  titleAt: number;
  titlePath: Set<Box>;
}

/** Headings that announce other pages. */
export const OTHERS =
  /relat(ed|ion|iert)|relacionad|ähnlich|verwandt|weitere|auch interess|das könnte|mehr (zu|aus|von)|meistgelesen|correlat|leggi anche|potrebbe|altri articoli|più (letti|lette|popolari)|à lire|lire aussi|voir aussi|aussi|articles (liés|similaires)|les plus lus|lea (también|mas|más)|también|te puede|más (leído|noticias|vist|de )|mais (lid|notícias|vist|recentes|de )|você|leia|veja|últim|ultim|zobacz|czytaj|podobne|powiązane|читайте|похож|также|ещё|популярн|последни|gerelateerd|lees ook|meest gelezen|läs (också|mer)|les også|læs også|ilgili|benzer|相关|相關|推荐|推薦|関連|おすすめ|人気|관련|recommend|empfohl|recomend|consigliat|more (from|in|on|stories|news|articles)|you (may|might) also|also (like|viewed|bought)|read (more|next)|see also|trending|popular|latest|similar|up next|don.t miss|top stories|sponsored|follow us|newsletter|suscr|inscri|abonn|teilen|condivid|compart|partag|sign up|subscribe|share|about the author|tags|categories|archives|recent (posts|comments)|links|navigation|footer|menu|cookie|privacy/i;
const TALK =
  /comments?|coment[aá]rios|kommentar|commentaires?|comenti|комментар|reacties|评论|コメント|repl(y|ies)|reviews?|discussion|responses|leave a/i;

export function survey(page: BlockPage, title: string): Survey {
  const { blocks, boxes, body } = page;
  const count = blocks.length;
  const sums = () => new Float64Array(count + 1);
  const [wordsBefore, linksBefore, sentencesBefore] = [sums(), sums(), sums()];
  let [firstHeading, firstLong, lastLong] = [-1, -1, -1];
  const chapters: Chapter[] = [];
  const sections: number[] = [];
  const levels: number[] = [0, 0, 0, 0, 0, 0, 0];
  let [section, longest, hiddenWords] = [0, 0, 0];
  let chapter: Chapter = { at: -1, level: 0, kind: 0 };
  for (let index = 0; index < count; index += 1) {
    const block = blocks[index]!;
    wordsBefore[index + 1] = wordsBefore[index]! + block.words;
    linksBefore[index + 1] = linksBefore[index]! + block.linkWords;
    sentencesBefore[index + 1] = sentencesBefore[index]! + block.sentences;
    if (block.words >= 20 && block.linkWords * 3 < block.words && !block.box.hidden) {
      if (firstLong < 0) firstLong = index;
      lastLong = index;
    }
    const level = headingLevel(block.box.element);
    if (level > 0) {
      if (firstHeading < 0 && level === 1) firstHeading = index;
      const kind = block.words > 10 ? 0 : OTHERS.test(block.text) ? 1 : TALK.test(block.text) ? 2 : 0;
      chapter = { at: index, level, kind };
      levels.fill(0, level);
      levels[level] = kind;
      section = levels.findLast((other) => other > 0) ?? 0;
    }
    chapters.push(chapter);
    sections.push(section);
    if (block.box.hidden) hiddenWords += block.words;
    else if (block.linkWords * 3 < block.words) longest = Math.max(longest, block.words);
  }
  let largestArticle: Box | null = null;
  let articles = 0;
  for (const box of boxes) {
    if (box.element.tag.name !== "article") continue;
    articles += 1;
    if (largestArticle === null || box.words > largestArticle.words) largestArticle = box;
  }
  const prosePath = proseBoxes(boxes, body);
  const titleAt = titleBlock(blocks, title);
  return {
    ...page,
    words: Math.max(1, wordsBefore[count]!),
    paragraphWords: Math.max(1, body.paragraphWords),
    shapes: shapesOf(blocks),
    chapters,
    sections,
    grids: findGrids(page, chapters),
    titleWords: new LongWords(longWords(title)),
    longest,
    hiddenWords,
    copies: copiesOf(blocks),
    wordsBefore,
    linksBefore,
    sentencesBefore,
    firstHeading,
    firstLong,
    lastLong,
    articles,
    largestArticle,
    prosePath,
    proseDepth: Math.max(...[...prosePath].map((box) => box.depth)),
    titleAt,
    titlePath: titleAt < 0 ? new Set() : boxesAround(blocks[titleAt]!.box),
  };
}

/** Finds the largest heading whose text the page's title contains. */
function titleBlock(blocks: readonly Block[], title: string): number {
  let [found, best] = [-1, 7];
  for (const [index, { text, box }] of blocks.entries()) {
    const level = headingLevel(box.element);
    if (level === 0 || box.hidden || level >= best) continue;
    const small = text.toLowerCase();
    if (small.length < 5 || !(title.includes(small) || (title.length >= 12 && small.includes(title)))) continue;
    [found, best] = [index, level];
  }
  return found;
}

function boxesAround(box: Box): Set<Box> {
  const ancestors = new Set<Box>();
  for (let up: Box | null = box; up !== null; up = up.parent) ancestors.add(up);
  return ancestors;
}

const DOMINANT = 0.6;

function proseBoxes(boxes: readonly Box[], body: Box): Set<Box> {
  const path = new Set([body]);
  let current = body;
  // In document order, so a box with most of the prose of the current one comes after it.
  for (const box of boxes) {
    if (
      box.parent === current &&
      !box.hidden &&
      box.paragraphWords > current.paragraphWords * DOMINANT &&
      box.blocks > 1
    ) {
      path.add(box);
      current = box;
    }
  }
  return path;
}

/** By the tags and classes of a block's box and three ancestors. */
function shapesOf(blocks: readonly Block[]): Shape[] {
  const numbers = new PairNumbers();
  const shapes = new Map<number, Shape>();
  return blocks.map((block, index) => {
    const { box } = block;
    const number = numbers.of(box.shapes, box.parent?.parent?.shapes ?? 0);
    let shape = shapes.get(number);
    if (shape === undefined) {
      shape = { blocks: 0, words: 0, linkWords: 0, sentences: 0, firstAt: index };
      shapes.set(number, shape);
    }
    shape.blocks += 1;
    shape.words += block.words;
    shape.linkWords += block.linkWords;
    shape.sentences += block.sentences;
    return shape;
  });
}

const MAX_COPY_WORDS = 40;

function copiesOf(blocks: readonly Block[]): number[] {
  const counts = new Map<string, number>();
  for (const { text, words } of blocks) if (words <= MAX_COPY_WORDS) counts.set(text, (counts.get(text) ?? 0) + 1);
  return blocks.map(({ text, words }) => (words <= MAX_COPY_WORDS ? counts.get(text)! : 1));
}
