/** Features of a block: the columns that the model reads. */
import type { Block } from "./blocks.ts";
import { countLongWords } from "../article/letters.ts";
import { type Box, TAGS } from "./boxes.ts";
import { headingLevel, MARK_NAMES } from "./marks.ts";
import { PAGE_TYPES } from "./page-type.ts";
import type { Grid } from "./grids.ts";
import type { Ancestry } from "./ancestry.ts";
import type { Shape, Survey } from "./survey.ts";

/** Page-level evidence. */
export interface PageContext {
  title: string;
  heading: string;
  /** Names in structured data, in lower case. */
  names: ReadonlySet<string>;
  /** Descriptions from structured data, in lower case with single spaces. */
  described: string;
  signals: Readonly<Record<string, number>>;
}

/** A block with its context. */
export interface View {
  page: Survey;
  context: PageContext;
  index: number;
  block: Block;
  box: Box;
  tag: string;
  ancestry: Ancestry;
  shape: Shape;
  /** Its text in lower case; empty for a long one. */
  small: string;
}

export const LEVELS = 5;
/** Words of a block that is no title. */
export const LONG = 40;
/** Alternatives with the same first letter are together, and the text is in lower case: both make it faster. */
const NOTICE =
  /c(?:ookie|opyright|onsent)|s(?:ubscri|ign ?(?:up|in))|newsletter|log ?in|privacy|a(?:ll rights reserved|dvertis)|©|terms of|javascript|opt.?out/;
const CALL =
  /^(share|tweet|follow|read more|more|see also|related|reply|comments?|leave a|view all|show more|load more|add to|buy|next|previous|back to|skip to|print|email|save|menu|search|home|contact|sort by|filter|quick|shop|learn more|click)/i;
const DATE = /\b(19|20)\d\d\b|\b\d{1,2}[:./-]\d{1,2}\b|\bago\b/i;
const BY = /^(by|von|par|por|da)\s+\p{Lu}/iu;

const toNumber = (value: boolean): number => (value ? 1 : 0);
export const share = (part: number, whole: number): number => part / Math.max(1, whole);

const OWN: Record<string, (view: View) => number> = {
  words: ({ block }) => block.words,
  word_length: ({ block }) => share(block.chars, block.words),
  link_share: ({ block }) => block.linkWords / block.words,
  links: ({ block }) => block.links,
  digit_share: ({ block }) => block.digits / block.chars,
  upper_share: ({ block }) => block.upper / block.chars,
  commas: ({ block }) => block.commas,
  sentences: ({ block }) => block.sentences,
  ended: ({ block }) => toNumber(block.ended),
  strong_share: ({ block }) => block.strongWords / block.words,
  hidden: ({ box }) => toNumber(box.hidden),
  depth: ({ box }) => box.depth,
  heading: ({ box }) => headingLevel(box.element),
  cell: ({ tag }) => (tag === "th" ? 2 : toNumber(tag === "td")),
  definition: ({ tag }) => (tag === "dt" ? 2 : toNumber(tag === "dd")),
  copies: ({ page, index }) => page.copies[index]!,
  notice: ({ block, small }) =>
    toNumber(block.words < 60 && NOTICE.test(small === "" ? block.text.toLowerCase() : small)),
  call: ({ block }) => toNumber(block.words < 15 && CALL.test(block.text)),
  date: ({ block }) => toNumber(block.words < 20 && DATE.test(block.text)),
  money: ({ block }) => toNumber(block.money),
  by: ({ block }) => toNumber(block.words < 12 && BY.test(block.text)),
  is_title: (view) => similarity(view, view.context.title),
  named: ({ block, context, small }) => toNumber(block.words < 30 && context.names.has(small)),
  title_words: titleShare,
  is_heading: (view) => similarity(view, view.context.heading),
  described: ({ block, context }) => (context.described === "" ? -1 : startsLikeDescription(block, context.described)),
};

const PLACE: Record<string, (view: View) => number> = {
  in_candidate: ({ box }) => toNumber(box.inCandidate) + toNumber(box.inCandidate && box.kept),
  kept: ({ box }) => toNumber(box.kept),
  kept_before: ({ page, index }) => toNumber(page.blocks[index - 1]?.box.kept === true),
  kept_after: ({ page, index }) => toNumber(page.blocks[index + 1]?.box.kept === true),
  position: ({ page, index }) => page.wordsBefore[index]! / page.words,
  after_heading: ({ page, index }) => (page.firstHeading < 0 ? -50 : clamp(index - page.firstHeading)),
  after_first_long: ({ page, index }) => (page.firstLong < 0 ? -301 : clamp(index - page.firstLong)),
  before_last_long: ({ page, index }) => (page.lastLong < 0 ? -301 : clamp(page.lastLong - index)),
  articles: ({ page }) => page.articles,
  in_largest_article: ({ page, ancestry }) =>
    page.largestArticle !== null && ancestry.isInLargest ? page.largestArticle.words / page.words : 0,
  chapter_at: ({ page, index }) => (page.chapters[index]!.at < 0 ? 300 : clamp(index - page.chapters[index]!.at)),
  chapter_level: ({ page, index }) => page.chapters[index]!.level,
  section_kind: ({ page, index }) => page.sections[index]!,
  chapter_kind: ({ page, index }) => page.chapters[index]!.kind,
  from_prose: ({ page, ancestry }) => page.proseDepth - ancestry.withProse.depth,
  from_title: ({ page, ancestry }) =>
    page.titleAt < 0 ? -1 : page.blocks[page.titleAt]!.box.depth - ancestry.withTitle.depth,
  to_title: ({ page, box, ancestry }) => (page.titleAt < 0 ? -1 : box.depth - ancestry.withTitle.depth),
  after_title: ({ page, index }) => (page.titleAt < 0 ? -301 : clamp(index - page.titleAt)),
  title_box_share: ({ page, ancestry }) => (page.titleAt < 0 ? -1 : ancestry.withTitle.words / page.words),
  shape_blocks: ({ shape }) => shape.blocks,
  shape_words: ({ shape }) => shape.words / shape.blocks,
  shape_links: ({ shape }) => share(shape.linkWords, shape.words),
  shape_sentences: ({ shape }) => shape.sentences / shape.blocks,
  shape_share: ({ shape, page }) => shape.words / page.words,
  shape_at: ({ shape, page }) => page.wordsBefore[shape.firstAt]! / page.words,
  item_repeats: ({ ancestry: { item } }) => item?.repeats ?? 0,
  item_words: ({ ancestry: { item } }) => item?.words ?? 0,
  item_links: ({ ancestry: { item } }) => share(item?.linkWords ?? 0, item?.words ?? 0),
  item_images: ({ ancestry: { item } }) => item?.images ?? 0,
  item_share: ({ ancestry: { item }, page }) => (item?.parent?.words ?? 0) / page.words,
  item_prose: ({ ancestry: { item } }) => share(item?.parent?.paragraphWords ?? 0, item?.parent?.words ?? 0),
};

const GRID: Record<string, (grid: Grid, page: Survey) => number> = {
  items: (grid) => grid.items,
  words: (grid) => share(grid.words, grid.items),
  links: (grid) => share(grid.linkWords, grid.words),
  images: (grid) => share(grid.images, grid.items),
  prices: (grid) => share(grid.prices, grid.items),
  headings: (grid) => share(grid.headings, grid.items),
  linked: (grid) => share(grid.linkedHeadings, grid.headings),
  prose: (grid) => share(grid.paragraphWords, grid.words),
  share: (grid, page) => grid.words / page.words,
  rank: (grid, page) => grid.words / page.grids.largest,
  priced_rank: (grid, page) => (grid.prices < 2 ? -1 : grid.prices / page.grids.mostPrices),
  kind: (grid) => grid.announced,
  level: (grid) => grid.level,
  at: (grid, page) => (grid.items === 0 ? -1 : page.wordsBefore[grid.firstBlock]! / page.words),
};

const PAGE: Record<string, (page: Survey) => number> = {
  page_words: (page) => page.words,
  page_blocks: (page) => page.blocks.length,
  page_links: (page) => page.body.linkWords / page.words,
  page_prose: (page) => page.body.paragraphWords / page.words,
  page_images: (page) => page.body.images,
  page_prices: (page) => page.body.prices,
  page_controls: (page) => page.body.controls,
  page_headings: (page) => page.body.headings,
  page_linked_headings: (page) => share(page.body.linkedHeadings, page.body.headings),
  page_grid: (page) => page.grids.largest / page.words,
  page_grid_prices: (page) => page.grids.mostPrices,
  page_longest: (page) => page.longest,
  page_hidden: (page) => page.hiddenWords / page.words,
};

export const SIGNALS = [
  "ld_article",
  "ld_product",
  "ld_list",
  "ld_forum",
  "ld_page",
  "ld_faq",
  "og_article",
  "og_product",
  "og_website",
  "path_depth",
  "path_words",
  "path_digits",
  "path_forum",
  "path_product",
  "path_list",
  "path_docs",
  "path_article",
  "h1s",
  "times",
] as const;

/** Of an ancestor box. */
const AROUND: Record<string, (box: Box, page: Survey) => number> = {
  share: (box, page) => box.words / page.words,
  links: (box) => share(box.linkWords, box.words),
  paragraphs: (box, page) => box.paragraphWords / page.paragraphWords,
  prose: (box) => share(box.paragraphWords, box.words),
  block_words: (box) => share(box.words, box.blocks),
  repeats: (box) => box.repeats,
  images: (box) => share(box.images, box.blocks),
  controls: (box) => box.controls,
  headings: (box) => box.headings,
};

export const BESIDE = [-2, -1, 1, 2] as const;
/** Blocks on both sides. */
export const REACHES = [4, 12] as const;

/** The functions of each group of columns, in the order of the table. */
export const READERS = {
  own: [...Object.values(OWN), ...Object.values(PLACE)],
  page: Object.values(PAGE),
  grid: Object.values(GRID),
  around: Object.values(AROUND),
} as const;

/** The columns that can be computed from the page alone, in the order in which `readTable` writes them. */
export const OWN_COLUMNS: readonly string[] = [
  ...[OWN, PLACE, PAGE].flatMap((group) => Object.keys(group)),
  ...Object.keys(GRID).flatMap((name) => [`outer_${name}`, `inner_${name}`]),
  ...BESIDE.flatMap((offset) => [`words${offset}`, `links${offset}`, `sentences${offset}`]),
  ...REACHES.flatMap((reach) => [`near_words${reach}`, `near_links${reach}`, `near_sentences${reach}`]),
  ...Array.from({ length: LEVELS }, (_, level) => Object.keys(AROUND).map((name) => `box${level}_${name}`)).flat(),
  ...MARK_NAMES.flatMap((name) => [`mark_${name}`, `mark_${name}_share`]),
  ...TAGS.map((name) => `tag_${name}`),
  ...SIGNALS.map((name) => `page_${name}`),
];

/** The likelihood of each page type, which follows from the other columns: see `page-table.ts`. */
export const TYPE_COLUMNS: readonly string[] = PAGE_TYPES.map((type) => `type_${type}`);

function titleShare({ block, page: { titleWords }, small }: View): number {
  if (block.words > LONG || titleWords.size === 0) return 0;
  const { all, found } = countLongWords(small, titleWords);
  return share(found, all);
}

function similarity({ block: { words }, small }: View, title: string): number {
  if (title === "" || words > LONG) return 0;
  if (small === title) return 2;
  return toNumber(small.length >= 12 && (title.includes(small) || small.includes(title)));
}

function startsLikeDescription({ text }: Block, described: string): number {
  return toNumber(text.length >= 15 && described.includes(text.slice(0, 60).toLowerCase()));
}

function clamp(value: number): number {
  return Math.max(-300, Math.min(300, value));
}
