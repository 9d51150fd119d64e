/** The block elements of a page, with statistics of their content and their ancestors. */
import type { Element } from "../dom/nodes.ts";
import { classesOf, marksOf } from "./marks.ts";

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
  /** A number for its tag and classes, one for those of it and its parent, and one for those of the next two above. */
  shape: number;
  shapes: number;
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
  /** A number for its tag and those of its first child boxes. */
  outline: number;
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
  /** One bit per mark of its own names, and per tag that it has or plays the role of. */
  marks: number;
  tags: number;
  /** In a box with the tag or the role of a footer, itself included. */
  inFooter: boolean;
}

/** The verdict of the rules about an element. */
export interface Hints {
  root: Element;
  keep(element: Element): boolean;
  isHidden(element: Element): boolean;
}

const FOOTER = 1 << TAGS.indexOf("footer");

export class BoxMaker {
  readonly #hints: Hints;
  readonly #numbers = new PairNumbers();
  readonly #tags = new Map<string, number>();

  constructor(hints: Hints) {
    this.#hints = hints;
  }

  make(element: Element, parent: Box | null, at: number, firstBlock: number): Box {
    const hints = this.#hints;
    const tags = tagsOf(element);
    const shape = this.#numbers.of(this.tag(element), classesOf(element));
    return {
      element,
      parent,
      at,
      depth: parent === null ? 0 : parent.depth + 1,
      shape,
      shapes: this.#numbers.of(shape, parent === null ? 0 : parent.shape),
      words: 0,
      linkWords: 0,
      blocks: 0,
      paragraphWords: 0,
      images: 0,
      controls: 0,
      headings: 0,
      linkedHeadings: 0,
      prices: 0,
      outline: 0,
      kin: 0,
      repeats: 0,
      firstBlock,
      hidden: parent?.hidden === true || hints.isHidden(element),
      inCandidate: parent?.inCandidate === true || element === hints.root,
      kept: parent === null || (parent.kept && (element === hints.root || hints.keep(element))),
      marks: parent === null ? 0 : marksOf(element),
      tags,
      inFooter: parent?.inFooter === true || (tags & FOOTER) !== 0,
    };
  }

  /** A number for the tag, from 1. */
  tag({ tag: { name } }: Element): number {
    let number = this.#tags.get(name);
    if (number === undefined) this.#tags.set(name, (number = this.#tags.size + 1));
    return number;
  }

  /** Cards of a grid differ in their classes (`product-1234`) more than in their elements. */
  outline(box: Box, children: readonly Box[], from: number, to: number): number {
    const numbers = this.#numbers;
    let outline = this.tag(box.element);
    for (let at = from; at < to && at < from + 3; at += 1)
      outline = numbers.of(outline, this.tag(children[at]!.element));
    return from === to ? outline : numbers.of(outline, children[from]!.shape);
  }
}

/** More than there are kinds of tags, whose numbers are paired as well. */
const MAX_TAGS = 2 ** 20;
const SLOTS = 1024;

/** Numbers pairs of numbers, so that groups of boxes are found without long texts as keys. A hash table: a Map of products takes three times as long. */
export class PairNumbers {
  /** First, second and their number; 0: a free slot. */
  #slots = new Int32Array(3 * SLOTS);
  #count = 0;

  of(first: number, second: number): number {
    const slots = this.#slots;
    const at = slotOf(slots, first, second);
    if (slots[at + 2] !== 0) return slots[at + 2]!;
    const number = this.#count + MAX_TAGS;
    slots[at] = first;
    slots[at + 1] = second;
    slots[at + 2] = number;
    this.#count += 1;
    if (this.#count * 6 > slots.length) this.#grow();
    return number;
  }

  #grow(): void {
    const larger = new Int32Array(2 * this.#slots.length);
    for (let from = 0; from < this.#slots.length; from += 3) {
      const [first, second, number] = this.#slots.subarray(from, from + 3) as unknown as [number, number, number];
      if (number === 0) continue;
      larger.set([first, second, number], slotOf(larger, first, second));
    }
    this.#slots = larger;
  }
}

/** Where a pair is, or would be. */
function slotOf(slots: Int32Array, first: number, second: number): number {
  // The number of slots is a power of two.
  const mask = slots.length / 3 - 1;
  let hash = Math.imul(first, 0x9e3779b1) ^ Math.imul(second, 0x85ebca6b);
  hash ^= hash >>> 15;
  for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
    const at = 3 * slot;
    if (slots[at + 2] === 0 || (slots[at] === first && slots[at + 1] === second)) return at;
  }
}

function tagsOf(element: Element): number {
  const own = TAG_INDEX.get(element.tag.name);
  const role = element.attr("role");
  const meant = role === undefined ? undefined : TAG_INDEX.get(ROLES[role] ?? "");
  return (own === undefined ? 0 : 1 << own) | (meant === undefined ? 0 : 1 << meant);
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
