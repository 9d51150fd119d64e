/** Splits a page into blocks of text: runs without a block element in between. */
import type { Element, Node } from "../dom/nodes.ts";
import { isBlock, squeeze } from "../dom/text.ts";
import { addTo, type Box, type Hints, newBox } from "./boxes.ts";
import { HEADING } from "./marks.ts";
import { measure, type TextMeasure } from "./text-measure.ts";

const SILENT = new Set(
  "script style noscript template svg math iframe object embed applet canvas audio video map head link meta input select textarea datalist frame frameset option".split(
    " ",
  ),
);
const CONTROLS = new Set(["input", "select", "textarea"]);
export const MONEY = /\p{Sc}\s?\d|\d\s?\p{Sc}/u;
const STRONG = new Set(["b", "strong", "em"]);

export interface Block extends TextMeasure {
  box: Box;
  text: string;
  linkWords: number;
  links: number;
  strongWords: number;
}

export interface BlockPage {
  blocks: Block[];
  /** In document order, the body first. */
  boxes: Box[];
  body: Box;
}

export function readBlocks(body: Element, hints: Hints): BlockPage {
  const reader = new BlockReader(hints);
  const top = reader.box(body, null, false);
  return { blocks: reader.blocks, boxes: reader.boxes, body: top };
}

interface Inline {
  inLink: boolean;
  inStrong: boolean;
}

class BlockReader {
  readonly blocks: Block[] = [];
  readonly boxes: Box[] = [];
  readonly #hints: Hints;
  #text = "";
  #linkWords = 0;
  #strongWords = 0;
  #links = 0;

  constructor(hints: Hints) {
    this.#hints = hints;
  }

  box(element: Element, parent: Box | null, inLink: boolean): Box {
    const box = newBox(element, parent, { at: this.boxes.length, firstBlock: this.blocks.length }, this.#hints);
    this.boxes.push(box);
    const children: Box[] = [];
    this.#visit(element, box, { inLink, inStrong: false }, children);
    this.#flush(box);
    countRepeats(children);
    box.outline = outlineOf(box, children);
    if (HEADING.test(element.tag.name)) {
      box.headings += 1;
      if (box.linkWords * 2 > box.words) box.linkedHeadings += 1;
    }
    if (parent !== null) addTo(parent, box);
    return box;
  }

  #visit(element: Element, box: Box, { inLink, inStrong }: Inline, children: Box[]): void {
    for (let node: Node | null = element.first; node !== null; node = node.next) {
      if (node.kind === 3) {
        this.#add(node.data, { inLink, inStrong });
        continue;
      }
      const { name } = node.tag;
      if (name === "br") this.#text += " ";
      else if (name === "img" || name === "picture") box.images += 1;
      else if (isSilent(node)) box.controls += CONTROLS.has(name) ? 1 : 0;
      else {
        const link = inLink || name === "a";
        if (name === "a") this.#links += 1;
        if (this.#isBox(node, box)) {
          this.#flush(box);
          children.push(this.box(node, box, link));
        } else this.#visit(node, box, { inLink: link, inStrong: inStrong || STRONG.has(name) }, children);
      }
    }
  }

  /** Buttons and labels are separate lines, and hidden content is separate from visible content. */
  #isBox(element: Element, { hidden }: Box): boolean {
    const { name } = element.tag;
    return isBlock(element) || name === "button" || name === "label" || (!hidden && this.#hints.isHidden(element));
  }

  #add(text: string, { inLink, inStrong }: Inline): void {
    this.#text += text;
    if (!inLink && !inStrong) return;
    const { words } = measure(text);
    if (inLink) this.#linkWords += words;
    if (inStrong) this.#strongWords += words;
  }

  #flush(box: Box): void {
    const text = squeeze(this.#text);
    const [links, linkWords, strongWords] = [this.#links, this.#linkWords, this.#strongWords];
    this.#text = "";
    if (text === "") return;
    [this.#links, this.#linkWords, this.#strongWords] = [0, 0, 0];
    const counts = measure(text);
    if (counts.words === 0) return;
    const capped = (words: number) => Math.min(counts.words, words);
    const block = { ...counts, box, text, links, linkWords: capped(linkWords), strongWords: capped(strongWords) };
    this.blocks.push(block);
    box.words += block.words;
    box.linkWords += block.linkWords;
    box.blocks += 1;
    if (block.words <= 12 && MONEY.test(text)) box.prices += 1;
    if (block.words >= 10 && block.sentences > 0 && block.linkWords * 2 < block.words)
      box.paragraphWords += block.words;
  }
}

function isSilent(element: Element): boolean {
  const { name } = element.tag;
  // Declarative shadow roots contain content.
  return SILENT.has(name) && !(name === "template" && element.attr("shadowrootmode") !== undefined);
}

function countRepeats(boxes: readonly Box[]): void {
  if (boxes.length === 1) boxes[0]!.repeats = 1;
  if (boxes.length < 2) return;
  const counts = new Map<string, number>();
  for (const { shape } of boxes) counts.set(shape, (counts.get(shape) ?? 0) + 1);
  for (const box of boxes) box.repeats = counts.get(box.shape)!;
  const outlines = new Map<string, number>();
  for (const { outline } of boxes) outlines.set(outline, (outlines.get(outline) ?? 0) + 1);
  for (const box of boxes) box.kin = outlines.get(box.outline)!;
}

/** Cards of a grid differ in their classes (`product-1234`) more than in their elements. */
function outlineOf({ element }: Box, children: readonly Box[]): string {
  let outline = element.tag.name;
  for (let at = 0; at < children.length && at < 3; at += 1) outline += ` ${children[at]!.element.tag.name}`;
  return children.length === 0 ? outline : `${outline} ${children[0]!.shape}`;
}
