/** The block elements of a page, with statistics of their content and their ancestors. */
import type { Element } from "../dom/nodes.ts";
import { layoutNames, MARK_NAMES, marksOf } from "./marks.ts";

/** The distance to the nearest box of a kind when there is none. */
export const FAR = 60;

export const TAGS =
  "nav footer header aside form main article section li table dl figure details blockquote pre button label p ul div".split(
    " ",
  );
const TAG_INDEX = new Map(TAGS.map((name, index) => [name, index]));
const ROLES: Readonly<Record<string, string>> = {
  navigation: "nav",
  menu: "nav",
  menubar: "nav",
  tablist: "nav",
  contentinfo: "footer",
  banner: "header",
  complementary: "aside",
  search: "form",
  dialog: "form",
  main: "main",
  article: "article",
  button: "button",
};

export interface Box {
  element: Element;
  parent: Box | null;
  /** Its place in the list of all boxes. */
  at: number;
  depth: number;
  /** Its tag and classes. */
  shape: string;
  words: number;
  linkWords: number;
  blocks: number;
  /** Words in blocks that read like a paragraph. */
  paragraphWords: number;
  images: number;
  controls: number;
  headings: number;
  /** Headings that are links, as in teasers. */
  linkedHeadings: number;
  /** Blocks with an amount of money. */
  prices: number;
  /** Its tag and those of its first child boxes. */
  outline: string;
  /** Number of siblings with the same outline, itself included. */
  kin: number;
  /** Number of siblings with the same shape, itself included. */
  repeats: number;
  /** Number of blocks before it. */
  firstBlock: number;
  hidden: boolean;
  /** Inside the rule-based candidate, and kept by it. */
  inCandidate: boolean;
  kept: boolean;
  /**
   * The depth of the nearest box with each mark, and with each tag, itself included; see `levelsTo`. Shared with the parent
   * unless the box has one of its own: most boxes have none.
   */
  marks: readonly number[];
  tags: readonly number[];
}

/** Levels up to the box at this depth. */
export function levelsTo(depth: number, box: Box): number {
  return depth < 0 ? FAR : Math.min(FAR, box.depth - depth);
}

/** The verdict of the rules about an element. */
export interface Hints {
  root: Element;
  keep(element: Element): boolean;
  isHidden(element: Element): boolean;
}

export function newBox(
  element: Element,
  parent: Box | null,
  { at, firstBlock }: Pick<Box, "at" | "firstBlock">,
  hints: Hints,
): Box {
  const { name } = element.tag;
  const depth = parent === null ? 0 : parent.depth + 1;
  return {
    element,
    parent,
    at,
    depth,
    shape: `${name}.${(element.attr("class") ?? "").slice(0, 40)}`,
    words: 0,
    linkWords: 0,
    blocks: 0,
    paragraphWords: 0,
    images: 0,
    controls: 0,
    headings: 0,
    linkedHeadings: 0,
    prices: 0,
    outline: name,
    kin: 0,
    repeats: 0,
    firstBlock,
    hidden: parent?.hidden === true || hints.isHidden(element),
    inCandidate: parent?.inCandidate === true || element === hints.root,
    kept: parent === null || (parent.kept && (element === hints.root || hints.keep(element))),
    marks: parent === null ? NO_MARKS : marksAround(element, parent.marks, depth),
    tags: tagsAround(element, parent?.tags ?? NO_TAGS, depth),
  };
}

const NO_MARKS: readonly number[] = MARK_NAMES.map(() => -1);
const NO_TAGS: readonly number[] = TAGS.map(() => -1);

function marksAround(element: Element, above: readonly number[], depth: number): readonly number[] {
  let bits = marksOf(layoutNames(element));
  if (bits === 0) return above;
  const marks = above.slice();
  for (let index = 0; bits !== 0; index += 1, bits >>>= 1) if ((bits & 1) === 1) marks[index] = depth;
  return marks;
}

function tagsAround(element: Element, above: readonly number[], depth: number): readonly number[] {
  const own = TAG_INDEX.get(element.tag.name);
  const role = element.attr("role");
  const meant = role === undefined ? undefined : TAG_INDEX.get(ROLES[role] ?? "");
  if (own === undefined && meant === undefined) return above;
  const tags = above.slice();
  if (own !== undefined) tags[own] = depth;
  if (meant !== undefined) tags[meant] = depth;
  return tags;
}

/** Adds the statistics of a box to its parent. */
export function addTo(parent: Box, box: Box): void {
  parent.words += box.words;
  parent.linkWords += box.linkWords;
  parent.blocks += box.blocks;
  parent.paragraphWords += box.paragraphWords;
  parent.images += box.images;
  parent.controls += box.controls;
  parent.headings += box.headings;
  parent.linkedHeadings += box.linkedHeadings;
  parent.prices += box.prices;
}
