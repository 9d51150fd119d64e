/** The stack of open elements and the insertion mode. */
import { Document, Element, type Node, TextNode } from "./nodes.ts";
import { BREAKOUT, IMPLIED_END, MATH_INTEGRATION, SCOPE, SVG_INTEGRATION, type Tag, TAGS, tagNamed } from "./tags.ts";

export type Mode =
  | "before-head"
  | "in-head"
  | "after-head"
  | "in-body"
  | "in-table"
  | "in-caption"
  | "in-colgroup"
  | "in-table-body"
  | "in-row"
  | "in-cell"
  | "in-template";

/** As in Chromium: deeper elements become siblings. Also keeps recursive walks from overflowing the stack. */
export const MAX_DEPTH = 512;
/** About 50 MB of tree; a page of 100,000 links stays below. */
export const MAX_NODES = 500_000;

const TABLE_PARTS = new Set(["table", "tbody", "tfoot", "thead", "tr"]);
export const P = TAGS.get("p") as Tag;
const BUTTON = TAGS.get("button") as Tag;

export class OpenElements {
  readonly document: Document;
  readonly stack: Element[] = [];
  mode: Mode = "before-head";
  /** Foster parenting: content that is not allowed in a table moves in front of it. */
  fostering = false;
  /** The stack of template insertion modes. */
  readonly #templateModes: Mode[] = [];

  constructor(source: string) {
    this.document = new Document(source, false, tagNamed("#document"));
  }

  get current(): Element {
    return this.stack[this.stack.length - 1] ?? this.document.root;
  }

  get full(): boolean {
    return this.document.nodes >= MAX_NODES;
  }

  /** Before the body. */
  get early(): boolean {
    return this.mode === "before-head" || this.mode === "in-head" || this.mode === "after-head";
  }

  /** Directly in a table part. */
  get inTablePart(): boolean {
    return TABLE_PARTS.has(this.current.tag.name);
  }

  /** Creates, inserts and opens an element. */
  open(tag: Tag, attrFrom = 0, attrTo = 0, space = 0): Element {
    const element = this.insert(tag, attrFrom, attrTo, space);
    this.push(element);
    return element;
  }

  push(element: Element): void {
    if (this.stack.length >= MAX_DEPTH) this.stack.pop();
    this.stack.push(element);
  }

  insert(tag: Tag, attrFrom: number, attrTo: number, space = 0): Element {
    const element = this.create(tag, attrFrom, attrTo, space);
    if (this.stack.length >= MAX_DEPTH) (this.stack[MAX_DEPTH - 2] as Element).append(element);
    else this.place(element);
    return element;
  }

  create(tag: Tag, attrFrom: number, attrTo: number, space: number): Element {
    const element = new Element(this.document, tag, space, attrFrom, attrTo);
    this.document.nodes += 1;
    if (tag.bucket !== null && space === 0) this.document.buckets[tag.bucket].push(element);
    return element;
  }

  text(from: number, to: number, raw: boolean): void {
    this.document.nodes += 1;
    this.place(new TextNode(this.document.source, from, to, raw));
  }

  /** Inserts at the standard's "appropriate place for inserting a node", and merges adjacent text. */
  place(node: Node, target: Element = this.current): void {
    let parent = target;
    let before: Node | null = null;
    if (this.fostering && TABLE_PARTS.has(target.tag.name) && target.space === 0) {
      const at = this.lastIndexOf("table");
      const table = this.stack[at];
      const template = this.lastIndexOf("template");
      if (template > at) parent = this.stack[template] as Element;
      else if (table !== undefined) {
        parent = table.parent ?? this.stack[at - 1] ?? this.document.root;
        before = table.parent === null ? null : table;
      }
    }
    if (node.kind === 3) {
      const last = before === null ? parent.last : before.prev;
      if (last !== null && last.kind === 3) {
        last.append(node);
        return;
      }
    }
    parent.insertBefore(node, before);
  }

  lastIndexOf(name: string): number {
    let at = this.stack.length - 1;
    while (at >= 0 && !(this.stack[at]?.tag.name === name && this.stack[at]?.space === 0)) at -= 1;
    return at;
  }

  /** Whether a matching element is open with no scope boundary in between. */
  inScope(matches: (element: Element) => boolean, also?: (element: Element) => boolean): boolean {
    for (let at = this.stack.length - 1; at >= 0; at -= 1) {
      const element = this.stack[at] as Element;
      if (element.space === 0) {
        if (matches(element)) return true;
        if ((element.tag.flags & SCOPE) !== 0 || also?.(element) === true) return false;
      } else if (isIntegration(element) || element.tag.name === "annotation-xml") return false;
    }
    return false;
  }

  tagInScope(tag: Tag): boolean {
    return this.inScope((element) => element.tag === tag);
  }

  inTableScope(...names: string[]): boolean {
    for (let at = this.stack.length - 1; at >= 0; at -= 1) {
      const { name } = (this.stack[at] as Element).tag;
      if (names.includes(name)) return true;
      if (name === "table" || name === "html" || name === "template") return false;
    }
    return false;
  }

  popThrough(matches: (element: Element) => boolean): void {
    for (let element = this.stack.pop(); element !== undefined; element = this.stack.pop()) {
      if (element.space === 0 && matches(element)) return;
    }
  }

  popThroughName(...names: string[]): void {
    this.popThrough((element) => names.includes(element.tag.name));
  }

  /** Pops until one of these (which stays) is the current element. */
  clearTo(...names: string[]): void {
    while (this.stack.length > 1 && !names.includes(this.current.tag.name) && this.current.tag.name !== "template") {
      this.stack.pop();
    }
  }

  impliedEnds(except?: Tag): void {
    while ((this.current.tag.flags & IMPLIED_END) !== 0 && this.current.tag !== except) this.stack.pop();
  }

  closeP(): void {
    // The common case first: text blocks follow each other directly.
    if (this.current.tag === P) {
      this.stack.pop();
      return;
    }
    if (!this.inScope(isP, isButton)) return;
    this.impliedEnds(P);
    this.popThrough(isP);
  }

  hasP(): boolean {
    return this.inScope(isP, isButton);
  }

  enterTemplate(): void {
    this.#templateModes.push("in-template");
    this.mode = "in-template";
  }

  /** The first tag in a template determines its insertion mode. */
  readTemplateAs(mode: Mode): void {
    this.#templateModes[this.#templateModes.length - 1] = mode;
    this.mode = mode;
  }

  leaveTemplate(): void {
    this.#templateModes.pop();
    this.resetMode();
  }

  /** The standard's "reset the insertion mode appropriately". */
  resetMode(): void {
    for (let at = this.stack.length - 1; at >= 0; at -= 1) {
      const { rule } = (this.stack[at] as Element).tag;
      const mode = MODE_OF[rule];
      if (mode !== undefined) {
        this.mode = mode === "in-template" ? (this.#templateModes.at(-1) ?? mode) : mode;
        return;
      }
    }
    this.mode = "in-body";
  }

  /** Inside svg or math, except at HTML integration points. */
  inForeign(): boolean {
    const { current } = this;
    return current.space !== 0 && !isIntegration(current);
  }

  leaveForeign(): void {
    while (this.inForeign() && this.stack.length > 1) this.stack.pop();
  }

  breaksOut(tag: Tag): boolean {
    return (tag.flags & BREAKOUT) !== 0;
  }
}

const HTML_ANNOTATION = /^(?:text\/html|application\/xhtml\+xml)$/i;

const MODE_OF: Partial<Record<string, Mode>> = {
  td: "in-cell",
  tr: "in-row",
  tbody: "in-table-body",
  caption: "in-caption",
  colgroup: "in-colgroup",
  table: "in-table",
  template: "in-template",
};

/** `<title>` counts in svg only, `<mi>` in math only, and an annotation only with an HTML encoding. */
function isIntegration(element: Element): boolean {
  if ((element.tag.flags & (element.space === 1 ? SVG_INTEGRATION : MATH_INTEGRATION)) === 0) return false;
  return element.tag.name !== "annotation-xml" || HTML_ANNOTATION.test(element.attr("encoding") ?? "");
}

function isP(element: Element): boolean {
  return element.tag === P;
}

function isButton(element: Element): boolean {
  return element.tag === BUTTON;
}
