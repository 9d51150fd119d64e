/** Splits a page into blocks of text: runs without a block element in between. */
import type { Element, Node } from "../dom/nodes.ts";
import { CONTROL, SILENT, STRONG } from "../dom/tags.ts";
import { isBlock, squeeze } from "../dom/text.ts";
import { addTo, type Box, BoxMaker, type Hints } from "./boxes.ts";
import { isHeading } from "./marks.ts";
import { measure, type TextMeasure } from "./text-measure.ts";

const MONEY = /\p{Sc}\s?\d|\d\s?\p{Sc}/u;
const MONEY_WORDS = 29;

export interface Block extends TextMeasure {
  box: Box;
  text: string;
  linkWords: number;
  links: number;
  strongWords: number;
  /** It is short and names an amount of money. */
  money: boolean;
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

class BlockReader {
  readonly blocks: Block[] = [];
  readonly boxes: Box[] = [];
  readonly #hints: Hints;
  readonly #maker: BoxMaker;
  /** The children so far of all boxes that are being read; what is behind them is over. */
  readonly #children: Box[] = [];
  #childCount = 0;
  #text = "";
  #linkWords = 0;
  #strongWords = 0;
  #links = 0;

  constructor(hints: Hints) {
    this.#hints = hints;
    this.#maker = new BoxMaker(hints);
  }

  box(element: Element, parent: Box | null, inLink: boolean): Box {
    const box = this.#maker.make(element, parent, this.boxes.length, this.blocks.length);
    this.boxes.push(box);
    const children = this.#children;
    const from = this.#childCount;
    this.#visit(element, box, inLink, false);
    this.#flush(box);
    countRepeats(children, from, this.#childCount);
    box.outline = this.#maker.outline(box, children, from, this.#childCount);
    this.#childCount = from;
    if (isHeading(element)) {
      box.headings += 1;
      if (box.linkWords * 2 > box.words) box.linkedHeadings += 1;
    }
    if (parent !== null) addTo(parent, box);
    return box;
  }

  #visit(element: Element, box: Box, inLink: boolean, inStrong: boolean): void {
    for (let node: Node | null = element.first; node !== null; node = node.next) {
      if (node.kind === 3) {
        this.#add(node.data, inLink, inStrong);
        continue;
      }
      const { name, flags } = node.tag;
      if (name === "br") this.#text += " ";
      else if (name === "img" || name === "picture") box.images += 1;
      else if (isSilent(node)) box.controls += (flags & CONTROL) === 0 ? 0 : 1;
      else {
        const link = inLink || name === "a";
        if (name === "a") this.#links += 1;
        if (this.#isBox(node, box)) {
          this.#flush(box);
          const child = this.box(node, box, link);
          this.#children[this.#childCount] = child;
          this.#childCount += 1;
        } else this.#visit(node, box, link, inStrong || (flags & STRONG) !== 0);
      }
    }
  }

  /** Buttons and labels are separate lines, and hidden content is separate from visible content. */
  #isBox(element: Element, { hidden }: Box): boolean {
    const { name } = element.tag;
    return isBlock(element) || name === "button" || name === "label" || (!hidden && this.#hints.isHidden(element));
  }

  #add(text: string, inLink: boolean, inStrong: boolean): void {
    this.#text = this.#text === "" ? text : this.#text + text;
    if (!inLink && !inStrong) return;
    const { words } = measure(text);
    if (inLink) this.#linkWords += words;
    if (inStrong) this.#strongWords += words;
  }

  #flush(box: Box): void {
    if (this.#text === "") return;
    const text = squeeze(this.#text);
    this.#text = "";
    if (text === "") return;
    const [links, linkWords, strongWords] = [this.#links, this.#linkWords, this.#strongWords];
    [this.#links, this.#linkWords, this.#strongWords] = [0, 0, 0];
    const { words, chars, digits, upper, commas, sentences, ended } = measure(text);
    if (words === 0) return;
    const money = digits > 0 && words <= MONEY_WORDS && MONEY.test(text);
    const block = {
      words,
      chars,
      digits,
      upper,
      commas,
      sentences,
      ended,
      box,
      text,
      links,
      linkWords: Math.min(words, linkWords),
      strongWords: Math.min(words, strongWords),
      money,
    };
    this.blocks.push(block);
    box.words += words;
    box.linkWords += block.linkWords;
    box.blocks += 1;
    if (words <= 12 && money) box.prices += 1;
    if (words >= 10 && sentences > 0 && block.linkWords * 2 < words) box.paragraphWords += words;
  }
}

function isSilent(element: Element): boolean {
  const { name, flags } = element.tag;
  // Declarative shadow roots contain content.
  return (flags & SILENT) !== 0 && !(name === "template" && element.attr("shadowrootmode") !== undefined);
}

/** More siblings than this are counted with a map. */
const MANY = 12;

/** Of siblings. */
function countRepeats(boxes: readonly Box[], from: number, to: number): void {
  const count = to - from;
  if (count === 1) boxes[from]!.repeats = 1;
  if (count < 2) return;
  if (count > MANY) {
    countMany(boxes, from, to);
    return;
  }
  for (let at = from; at < to; at += 1) {
    const box = boxes[at]!;
    let [repeats, kin] = [0, 0];
    for (let other = from; other < to; other += 1) {
      if (boxes[other]!.shape === box.shape) repeats += 1;
      if (boxes[other]!.outline === box.outline) kin += 1;
    }
    box.repeats = repeats;
    box.kin = kin;
  }
}

function countMany(boxes: readonly Box[], from: number, to: number): void {
  const [shapes, outlines] = [new Map<number, number>(), new Map<number, number>()];
  for (let at = from; at < to; at += 1) {
    const { shape, outline } = boxes[at]!;
    shapes.set(shape, (shapes.get(shape) ?? 0) + 1);
    outlines.set(outline, (outlines.get(outline) ?? 0) + 1);
  }
  for (let at = from; at < to; at += 1) {
    const box = boxes[at]!;
    box.repeats = shapes.get(box.shape)!;
    box.kin = outlines.get(box.outline)!;
  }
}
