/**
 * The tree of a page. Nodes point into the source text: attributes and character references are decoded on access, which
 * never happens for most of a page.
 */
import { decodeHTML, decodeHTMLAttribute, decodeHTMLStrict } from "entities";
import { type AttributeRange, readAttributes } from "./scan.ts";
import type { Bucket, Tag } from "./tags.ts";

export type Node = Element | TextNode;

/**
 * Limit for a text node, and for the text of one element: ten novels. A page with 20 MB of words is an attack, or a log
 * file.
 */
export const MAX_TEXT = 2_000_000;

export class TextNode {
  readonly kind = 3;
  parent: Element | null = null;
  prev: Node | null = null;
  next: Node | null = null;
  #source: string;
  #from: number;
  #to: number;
  #raw: boolean;
  #data: string | null = null;

  constructor(source: string, from: number, to: number, raw: boolean) {
    this.#source = source;
    this.#from = from;
    this.#to = to;
    this.#raw = raw;
  }

  get data(): string {
    if (this.#data === null) {
      const text = this.#source.slice(this.#from, Math.min(this.#to, this.#from + MAX_TEXT));
      const decode = this.parent?.document.xml === true ? decodeHTMLStrict : decodeHTML;
      this.#data = this.#raw || !text.includes("&") ? text : decode(text);
    }
    return this.#data;
  }

  /** Characters in the source, without decoding. */
  get sourceLength(): number {
    return this.#data?.length ?? this.#to - this.#from;
  }

  /** Merges text that is separated only by a dropped tag. */
  append(other: TextNode): void {
    // Decoding depends on the document, which a detached node does not know.
    other.parent = this.parent;
    this.#data = this.data + other.data;
  }
}

/** What the classes and the id of an element say. */
export interface ElementNames {
  /** A number for its classes on this page, from 1; 0: none. */
  classes: number;
  bits: number;
}

/** What is known about an element: one bit says that it is known, the next one what. */
export const VERDICTS = { hidden: 1, surrounding: 4 } as const;

export class Element {
  readonly kind = 1;
  readonly tag: Tag;
  readonly document: Document;
  /** 0 for HTML, 1 for svg, 2 for math. */
  readonly space: number;
  parent: Element | null = null;
  prev: Node | null = null;
  next: Node | null = null;
  first: Node | null = null;
  last: Node | null = null;
  readonly attrFrom: number;
  readonly attrTo: number;
  /** Its place among the elements of its document, in the order of their creation. */
  readonly at: number;
  #attributes: string[] | null = null;
  /** Of the content detection, which asks for them several times: the bits of `VERDICTS`. */
  verdicts = 0;
  names: ElementNames | null = null;

  constructor(document: Document, tag: Tag, space: number, attrFrom: number, attrTo: number) {
    this.document = document;
    this.tag = tag;
    this.space = space;
    this.attrFrom = attrFrom;
    this.attrTo = attrTo;
    this.at = document.elements;
    document.elements += 1;
  }

  get name(): string {
    return this.tag.name;
  }

  /** Flat name-value list; lower-case names in HTML. */
  get attributes(): readonly string[] {
    return (this.#attributes ??= this.document.readAttributes(this));
  }

  attr(name: string): string | undefined {
    // Fast path: most elements have no attributes.
    if (this.attrTo - this.attrFrom < 2 && this.#attributes === null) return undefined;
    const list = this.attributes;
    for (let index = 0; index < list.length; index += 2) if (list[index] === name) return list[index + 1];
    return undefined;
  }

  /** The answer of `judge`, asked once per element. */
  verdict(bit: number, judge: (element: Element) => boolean): boolean {
    if ((this.verdicts & bit) === 0) this.verdicts |= judge(this) ? bit * 3 : bit;
    return (this.verdicts & (bit * 2)) !== 0;
  }

  addAttributes(list: readonly string[]): void {
    const attributes = [...this.attributes];
    for (let index = 0; index < list.length; index += 2) {
      const [name, value] = [list[index] as string, list[index + 1] as string];
      if (this.attr(name) === undefined) attributes.push(name, value);
    }
    this.#attributes = attributes;
  }

  append(node: Node): void {
    this.insertBefore(node, null);
  }

  insertBefore(node: Node, before: Node | null): void {
    const prev = before === null ? this.last : before.prev;
    node.parent = this;
    node.prev = prev;
    node.next = before;
    if (prev === null) this.first = node;
    else prev.next = node;
    if (before === null) this.last = node;
    else before.prev = node;
  }
}

export function detach(node: Node): void {
  const { parent, prev, next } = node;
  if (parent === null) return;
  if (prev === null) parent.first = next;
  else prev.next = next;
  if (next === null) parent.last = prev;
  else next.prev = prev;
  node.parent = null;
  node.prev = null;
  node.next = null;
}

export class Document {
  readonly source: string;
  readonly xml: boolean;
  /** The parentless root; its children are the document's. */
  readonly root: Element;
  readonly buckets: Record<Bucket, Element[]> = {
    link: [],
    meta: [],
    linkTag: [],
    title: [],
    base: [],
    script: [],
    time: [],
    heading: [],
    image: [],
    frame: [],
    noscript: [],
  };
  /** The node limit was reached; the rest of the page was not read. */
  truncated = false;
  nodes = 0;
  elements = 0;
  /** By the text of the attribute: shared by all elements that have it. */
  readonly classes = new Map<string, ElementNames>();

  constructor(source: string, xml: boolean, rootTag: Tag) {
    this.source = source;
    this.xml = xml;
    this.root = new Element(this, rootTag, 0, 0, 0);
  }

  readAttributes(element: Element): string[] {
    const decode = this.xml ? decodeHTMLStrict : decodeHTMLAttribute;
    const range: AttributeRange = { source: this.source, from: element.attrFrom, to: element.attrTo };
    return readAttributes(range, this.xml, decode);
  }
}

/** The next node in document order that is not inside this one. */
export function following(node: Node, within: Element): Node | null {
  let current: Node | null = node;
  while (current !== null && current !== within) {
    if (current.next !== null) return current.next;
    current = current.parent;
  }
  return null;
}

/** All descendant elements in document order, without recursion or an array. */
export function* elementsBelow(top: Element): Generator<Element> {
  let node: Node | null = top.first;
  while (node !== null) {
    if (node.kind === 1) {
      yield node;
      node = node.first ?? following(node, top);
    } else node = following(node, top);
  }
}
