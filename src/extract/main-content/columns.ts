/** Features of a block: the columns that the model reads. */
import { type Block, MONEY } from "./blocks.ts";
import { type Box, FAR, TAGS } from "./boxes.ts";
import { MARK_NAMES } from "./marks.ts";
import { PAGE_TYPES } from "./page-type.ts";
import { type Grid, type Grids, NO_GRID } from "./grids.ts";
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
interface View {
  page: Survey;
  context: PageContext;
  index: number;
  block: Block;
  box: Box;
  tag: string;
  /** Ancestor boxes, each with more blocks than the previous one. */
  levels: readonly Box[];
  /** The outermost ancestor box that is one of several of the same shape. */
  item: Box | null;
  shape: Shape;
  /** The grids of its outermost and its innermost item. */
  outer: Grid;
  inner: Grid;
}

export interface Column {
  name: string;
  of(view: View): number;
}

const LEVELS = 5;
const NOTICE =
  /cookie|subscri|newsletter|sign ?up|sign ?in|log ?in|privacy|all rights reserved|©|copyright|terms of|javascript|advertis|opt.?out|consent/i;
const CALL =
  /^(share|tweet|follow|read more|more|see also|related|reply|comments?|leave a|view all|show more|load more|add to|buy|next|previous|back to|skip to|print|email|save|menu|search|home|contact|sort by|filter|quick|shop|learn more|click)/i;
const DATE = /\b(19|20)\d\d\b|\b\d{1,2}[:./-]\d{1,2}\b|\bago\b/i;
const BY = /^(by|von|par|por|da)\s+\p{Lu}/iu;

const PARAGRAPH = /^(p|h[1-6])$/;

const toNumber = (value: boolean): number => (value ? 1 : 0);
const share = (part: number, whole: number): number => part / Math.max(1, whole);

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
  heading: ({ tag }) => (/^h[1-6]$/.test(tag) ? Number(tag[1]) : 0),
  cell: ({ tag }) => (tag === "th" ? 2 : toNumber(tag === "td")),
  definition: ({ tag }) => (tag === "dt" ? 2 : toNumber(tag === "dd")),
  copies: ({ page, index }) => page.copies[index]!,
  notice: ({ block }) => toNumber(block.words < 60 && NOTICE.test(block.text)),
  call: ({ block }) => toNumber(block.words < 15 && CALL.test(block.text)),
  date: ({ block }) => toNumber(block.words < 20 && DATE.test(block.text)),
  money: ({ block }) => toNumber(block.words < 30 && MONEY.test(block.text)),
  by: ({ block }) => toNumber(block.words < 12 && BY.test(block.text)),
  is_title: ({ block, context }) => similarity(block, context.title),
  named: ({ block, context }) => toNumber(block.words < 30 && context.names.has(block.text.toLowerCase())),
  title_words: ({ block, page }) => titleShare(block, page.titleWords),
  is_heading: ({ block, context }) => similarity(block, context.heading),
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
  in_largest_article: ({ page, box }) =>
    page.largestArticle !== null && isIn(box, page.largestArticle) ? page.largestArticle.words / page.words : 0,
  chapter_at: ({ page, index }) => (page.chapters[index]!.at < 0 ? 300 : clamp(index - page.chapters[index]!.at)),
  chapter_level: ({ page, index }) => page.chapters[index]!.level,
  section_kind: ({ page, index }) => page.sections[index]!,
  chapter_kind: ({ page, index }) => page.chapters[index]!.kind,
  from_prose: ({ page, box }) => page.proseDepth - commonDepth(page.prosePath, box),
  from_title: ({ page, box }) =>
    page.titleAt < 0 ? -1 : page.blocks[page.titleAt]!.box.depth - commonDepth(page.titlePath, box),
  to_title: ({ page, box }) => (page.titleAt < 0 ? -1 : box.depth - commonDepth(page.titlePath, box)),
  after_title: ({ page, index }) => (page.titleAt < 0 ? -301 : clamp(index - page.titleAt)),
  title_box_share: ({ page, box }) => (page.titleAt < 0 ? -1 : commonBox(page.titlePath, box).words / page.words),
  shape_blocks: ({ shape }) => shape.blocks,
  shape_words: ({ shape }) => shape.words / shape.blocks,
  shape_links: ({ shape }) => share(shape.linkWords, shape.words),
  shape_sentences: ({ shape }) => shape.sentences / shape.blocks,
  shape_share: ({ shape, page }) => shape.words / page.words,
  shape_at: ({ shape, page }) => page.wordsBefore[shape.firstAt]! / page.words,
  item_repeats: ({ item }) => item?.repeats ?? 0,
  item_words: ({ item }) => item?.words ?? 0,
  item_links: ({ item }) => share(item?.linkWords ?? 0, item?.words ?? 0),
  item_images: ({ item }) => item?.images ?? 0,
  item_share: ({ item, page }) => (item?.parent?.words ?? 0) / page.words,
  item_prose: ({ item }) => share(item?.parent?.paragraphWords ?? 0, item?.parent?.words ?? 0),
};

const GRID: Record<string, (grid: Grid, page: Survey, index: number) => number> = {
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

const PAGE: Record<string, (view: View) => number> = {
  page_words: ({ page }) => page.words,
  page_blocks: ({ page }) => page.blocks.length,
  page_links: ({ page }) => page.body.linkWords / page.words,
  page_prose: ({ page }) => page.body.paragraphWords / page.words,
  page_images: ({ page }) => page.body.images,
  page_prices: ({ page }) => page.body.prices,
  page_controls: ({ page }) => page.body.controls,
  page_headings: ({ page }) => page.body.headings,
  page_linked_headings: ({ page }) => share(page.body.linkedHeadings, page.body.headings),
  page_grid: ({ page }) => page.grids.largest / page.words,
  page_grid_prices: ({ page }) => page.grids.mostPrices,
  page_longest: ({ page }) => page.longest,
  page_hidden: ({ page }) => page.hiddenWords / page.words,
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

/** The columns that can be computed from the page alone. */
export const OWN_COLUMNS: readonly Column[] = [
  ...[OWN, PLACE, PAGE].flatMap((group) => Object.entries(group).map(([name, of]) => ({ name, of }))),
  ...Object.entries(GRID).flatMap(([name, of]) => [
    { name: `outer_${name}`, of: ({ outer, page, index }: View) => of(outer, page, index) },
    { name: `inner_${name}`, of: ({ inner, page, index }: View) => of(inner, page, index) },
  ]),
  ...[-2, -1, 1, 2].flatMap(beside),
  ...[4, 12].flatMap(within),
  ...Array.from({ length: LEVELS }, (_, level) => around(level)).flat(),
  ...MARK_NAMES.flatMap((name, mark) => [
    { name: `mark_${name}`, of: ({ box }: View) => box.marks[mark]! },
    { name: `mark_${name}_share`, of: ({ box, page }: View) => markedShare(box, mark, page.words) },
  ]),
  ...TAGS.map((name, tag) => ({ name: `tag_${name}`, of: ({ box }: View) => box.tags[tag]! })),
  ...SIGNALS.map((name) => ({ name: `page_${name}`, of: ({ context }: View) => context.signals[name] ?? 0 })),
];

/** The likelihood of each page type, which follows from the other columns: see `page-table.ts`. */
export const TYPE_COLUMNS: readonly string[] = PAGE_TYPES.map((type) => `type_${type}`);

/** Features of a neighbouring block. */
function beside(offset: number): Column[] {
  const at = ({ page, index }: View): Block | undefined => page.blocks[index + offset];
  return [
    { name: `words${offset}`, of: (view) => at(view)?.words ?? 0 },
    { name: `links${offset}`, of: (view) => share(at(view)?.linkWords ?? 0, at(view)?.words ?? 0) },
    { name: `sentences${offset}`, of: (view) => at(view)?.sentences ?? 0 },
  ];
}

/** Sums over the blocks on both sides. */
function within(reach: number): Column[] {
  const sum = (sums: Float64Array, index: number) =>
    sums[Math.min(sums.length - 1, index + reach + 1)]! - sums[Math.max(0, index - reach)]!;
  return [
    { name: `near_words${reach}`, of: ({ page, index }) => sum(page.wordsBefore, index) / reach },
    {
      name: `near_links${reach}`,
      of: ({ page, index }) => share(sum(page.linksBefore, index), sum(page.wordsBefore, index)),
    },
    { name: `near_sentences${reach}`, of: ({ page, index }) => sum(page.sentencesBefore, index) / reach },
  ];
}

/** Features of an ancestor box. */
function around(level: number): Column[] {
  const column = (name: string, of: (box: Box, page: Survey) => number): Column => ({
    name: `box${level}_${name}`,
    of: ({ levels, page }) => of(levels[level] ?? page.body, page),
  });
  return [
    column("share", (box, page) => box.words / page.words),
    column("links", (box) => share(box.linkWords, box.words)),
    column("paragraphs", (box, page) => box.paragraphWords / page.paragraphWords),
    column("prose", (box) => share(box.paragraphWords, box.words)),
    column("block_words", (box) => share(box.words, box.blocks)),
    column("repeats", (box) => box.repeats),
    column("images", (box) => share(box.images, box.blocks)),
    column("controls", (box) => box.controls),
    column("headings", (box) => box.headings),
  ];
}

/** The features of all blocks, one row each, with `extra` empty columns at the end of a row. */
export function readTable(page: Survey, context: PageContext, columns: readonly Column[], extra: number): Float32Array {
  const width = columns.length + extra;
  const table = new Float32Array(page.blocks.length * width);
  for (const [index, block] of page.blocks.entries()) {
    const { box } = block;
    const tag = box.element.tag.name;
    const { outer, inner } = gridsAt(page.grids, box);
    const [levels, item, shape] = [levelsOf(box), itemOf(box), page.shapes[index]!];
    const view: View = { page, context, index, block, box, tag, levels, item, shape, outer, inner };
    for (let column = 0; column < columns.length; column += 1)
      table[index * width + column] = columns[column]!.of(view);
  }
  return table;
}

/** The share of the page's words in the nearest box with this mark. */
function markedShare(box: Box, mark: number, words: number): number {
  const steps = box.marks[mark]!;
  if (steps >= FAR) return -1;
  let up = box;
  for (let step = 0; step < steps && up.parent !== null; step += 1) up = up.parent;
  return up.words / words;
}

/** The nearest ancestor box on a path from the body. */
function commonBox(path: ReadonlySet<Box>, box: Box): Box {
  let up = box;
  while (!path.has(up) && up.parent !== null) up = up.parent;
  return up;
}

function commonDepth(path: ReadonlySet<Box>, box: Box): number {
  return commonBox(path, box).depth;
}

function isIn(box: Box, outer: Box): boolean {
  for (let up: Box | null = box; up !== null; up = up.parent) if (up === outer) return true;
  return false;
}

function levelsOf(box: Box): Box[] {
  const levels = [box];
  let current = box;
  for (let up = box.parent; up !== null && levels.length < LEVELS; up = up.parent) {
    if (up.blocks > current.blocks) {
      levels.push(up);
      current = up;
    }
  }
  return levels;
}

function gridsAt({ ofBox }: Grids, box: Box): { outer: Grid; inner: Grid } {
  let [outer, inner] = [NO_GRID, NO_GRID];
  for (let up: Box | null = box; up !== null; up = up.parent) {
    const grid = ofBox.get(up);
    if (grid === undefined) continue;
    outer = grid;
    if (inner === NO_GRID) inner = grid;
  }
  return { outer, inner };
}

function titleShare({ text, words }: Block, titleWords: ReadonlySet<string>): number {
  if (words > 40 || titleWords.size === 0) return 0;
  const own = text.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu) ?? [];
  return share(own.filter((word) => titleWords.has(word)).length, own.length);
}

function itemOf(box: Box): Box | null {
  let found: Box | null = null;
  for (let up: Box | null = box; up !== null; up = up.parent) {
    if (up.repeats >= 3 && !PARAGRAPH.test(up.element.tag.name)) found = up;
  }
  return found;
}

function similarity({ text, words }: Block, title: string): number {
  if (title === "" || words > 40) return 0;
  const small = text.toLowerCase();
  if (small === title) return 2;
  return toNumber(small.length >= 12 && (title.includes(small) || small.includes(title)));
}

function startsLikeDescription({ text }: Block, described: string): number {
  return toNumber(text.length >= 15 && described.includes(text.slice(0, 60).toLowerCase()));
}

function clamp(value: number): number {
  return Math.max(-300, Math.min(300, value));
}
