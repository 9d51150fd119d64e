/** A page with example values, indexed for repeated queries. */
import { type Anchor, anchorKey, anchorsOf } from "./anchors.ts";
import { type Element, elementsBelow, type TextNode } from "../dom/nodes.ts";
import { squeeze, textOf } from "../dom/text.ts";
import type { PageFacts } from "../facts/page-facts.ts";

const SILENT = new Set(["script", "style", "template", "noscript"]);
const MAX_LABEL = 60;

export class LabelledPage {
  readonly facts: PageFacts;
  /** The page, or the item of the values. */
  readonly root: Element;
  /** By field; an empty list: the page has none. */
  readonly examples: Readonly<Record<string, readonly string[]>>;
  readonly elements: Element[] = [];
  readonly #byAnchor = new Map<string, Element[]>();
  readonly #texts = new Map<Element, string>();
  #byText: Map<string, Element[]> | null = null;
  #byOwnText: Map<string, TextNode[]> | null = null;

  constructor(
    facts: PageFacts,
    examples: Readonly<Record<string, readonly string[]>>,
    root: Element = facts.document.root,
  ) {
    this.facts = facts;
    this.root = root;
    this.examples = Object.fromEntries(Object.entries(examples).map(([name, list]) => [name, list.map(squeeze)]));
    for (const element of elementsBelow(root)) {
      this.elements.push(element);
      for (const anchor of anchorsOf(element)) {
        const key = anchorKey(anchor);
        const same = this.#byAnchor.get(key);
        if (same === undefined) this.#byAnchor.set(key, [element]);
        else same.push(element);
      }
    }
  }

  get isItem(): boolean {
    return this.root !== this.facts.document.root;
  }

  /** Elements with the anchor at any position, in document order. */
  withAnchor(anchor: Anchor): readonly Element[] {
    return this.#byAnchor.get(anchorKey(anchor)) ?? [];
  }

  text(element: Element): string {
    let text = this.#texts.get(element);
    if (text === undefined) this.#texts.set(element, (text = textOf(element)));
    return text;
  }

  /** Elements whose text equals the label. */
  labelled(label: string): readonly Element[] {
    if (this.#byText === null) {
      this.#byText = new Map();
      for (const element of this.elements) {
        if (SILENT.has(element.tag.name)) continue;
        const text = this.text(element);
        if (text === "" || text.length > MAX_LABEL) continue;
        const same = this.#byText.get(text);
        if (same === undefined) this.#byText.set(text, [element]);
        else same.push(element);
      }
    }
    return this.#byText.get(label) ?? [];
  }

  /** Text nodes that equal the label. */
  labelTexts(label: string): readonly TextNode[] {
    if (this.#byOwnText === null) {
      this.#byOwnText = new Map();
      for (const element of this.elements) {
        if (SILENT.has(element.tag.name)) continue;
        for (const node of ownTexts(element)) {
          const text = squeeze(node.data);
          if (text.length > MAX_LABEL) continue;
          const same = this.#byOwnText.get(text);
          if (same === undefined) this.#byOwnText.set(text, [node]);
          else same.push(node);
        }
      }
    }
    return this.#byOwnText.get(label) ?? [];
  }
}

export function isSilent(element: Element): boolean {
  return SILENT.has(element.tag.name);
}

/** Non-blank text nodes of an element. */
export function ownTexts(element: Element): TextNode[] {
  const list: TextNode[] = [];
  for (let node = element.first; node !== null; node = node.next) {
    if (node.kind === 3 && squeeze(node.data) !== "") list.push(node);
  }
  return list;
}
