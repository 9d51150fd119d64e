/**
 * `<b>one<p>two</b>three`: misnested formatting. The standard keeps a list of active formatting elements and repairs the
 * tree; without it, links in such pages are found in the wrong place or twice.
 */
import { detach, type Element } from "./nodes.ts";
import type { OpenElements } from "./open-elements.ts";
import { SPECIAL, type Tag } from "./tags.ts";

/** Every new paragraph reopens the whole list; no real page has this many. */
const MAX_ENTRIES = 32;

/** `null` is a marker: earlier entries do not apply inside a table cell, an object or a template. */
export class Formatting {
  readonly #open: OpenElements;
  #list: (Element | null)[] = [];

  constructor(open: OpenElements) {
    this.#open = open;
  }

  add(element: Element): void {
    // At most three equal entries after the last marker ("Noah's Ark clause").
    let alike = 0;
    for (let at = this.#list.length - 1; at >= 0; at -= 1) {
      const entry = this.#list[at];
      if (entry === null || entry === undefined) break;
      if (!sameElement(entry, element)) continue;
      alike += 1;
      if (alike === 3) this.#list.splice(at, 1);
    }
    this.#list.push(element);
    if (this.#list.length > MAX_ENTRIES) this.#list.shift();
  }

  mark(): void {
    this.#list.push(null);
    if (this.#list.length > MAX_ENTRIES * 16) this.#list.shift();
  }

  clearToMark(): void {
    while (this.#list.length > 0 && this.#list.pop() !== null);
  }

  /** The last open element of this name since the last marker. */
  find(tag: Tag): Element | undefined {
    for (let at = this.#list.length - 1; at >= 0; at -= 1) {
      const entry = this.#list[at];
      if (entry === null || entry === undefined) return undefined;
      if (entry.tag === tag) return entry;
    }
    return undefined;
  }

  remove(element: Element): void {
    const at = this.#list.indexOf(element);
    if (at >= 0) this.#list.splice(at, 1);
  }

  /** Reopens elements that were closed implicitly by their ancestors. */
  reconstruct(): void {
    const list = this.#list;
    const { stack } = this.#open;
    let at = list.length - 1;
    const last = list[at];
    if (last === undefined || last === null) return;
    if (last === stack[stack.length - 1] || stack.lastIndexOf(last) >= 0) return;
    while (at > 0) {
      const entry = list[at - 1];
      if (entry === null || entry === undefined || stack.lastIndexOf(entry) >= 0) break;
      at -= 1;
    }
    for (; at < list.length; at += 1) {
      const entry = list[at] as Element;
      list[at] = this.#open.open(entry.tag, entry.attrFrom, entry.attrTo);
    }
  }

  /**
   * The "adoption agency algorithm": closes a formatting element although blocks inside it are still open, by cloning it
   * into the blocks. False: treat the tag like any other end tag.
   */
  close(tag: Tag): boolean {
    const open = this.#open;
    const { stack } = open;
    const { current } = open;
    if (current.tag === tag) {
      // Fast path: closed where it was opened.
      if (this.#list[this.#list.length - 1] === current) {
        this.#list.pop();
        stack.pop();
        return true;
      }
      if (!this.#list.includes(current)) {
        stack.pop();
        return true;
      }
    }
    for (let round = 0; round < 8; round += 1) {
      const element = this.find(tag);
      if (element === undefined) return round > 0;
      const depth = stack.indexOf(element);
      if (depth < 0) {
        this.remove(element);
        return true;
      }
      if (!open.inScope((other) => other === element)) return true;
      const furthest = stack.findIndex((other, at) => at > depth && isSpecial(other));
      if (furthest < 0) {
        stack.length = depth;
        this.remove(element);
        return true;
      }
      this.#adopt(element, depth, furthest);
    }
    return true;
  }

  #adopt(element: Element, depth: number, furthest: number): void {
    const open = this.#open;
    const { stack } = open;
    const list = this.#list;
    const block = stack[furthest] as Element;
    const ancestor = stack[depth - 1] ?? open.document.root;
    let bookmark = list.indexOf(element);
    let last: Element = block;
    let node: Element;
    let at = furthest;
    for (let inner = 1; ; inner += 1) {
      at -= 1;
      node = stack[at] as Element;
      if (node === element) break;
      let entry = list.indexOf(node);
      if (inner > 3 && entry >= 0) {
        list.splice(entry, 1);
        if (entry < bookmark) bookmark -= 1;
        entry = -1;
      }
      if (entry < 0) {
        stack.splice(at, 1);
        continue;
      }
      const copy = open.create(node.tag, node.attrFrom, node.attrTo, 0);
      list[entry] = copy;
      stack[at] = copy;
      if (last === block) bookmark = entry + 1;
      detach(last);
      copy.append(last);
      last = copy;
    }
    detach(last);
    const { fostering } = open;
    open.fostering = true;
    open.place(last, ancestor);
    open.fostering = fostering;
    const copy = open.create(element.tag, element.attrFrom, element.attrTo, 0);
    while (block.first !== null) {
      const child = block.first;
      detach(child);
      copy.append(child);
    }
    block.append(copy);
    const old = list.indexOf(element);
    if (old >= 0) {
      list.splice(old, 1);
      if (old < bookmark) bookmark -= 1;
    }
    list.splice(bookmark, 0, copy);
    stack.splice(stack.indexOf(element), 1);
    stack.splice(stack.indexOf(block) + 1, 0, copy);
  }
}

/** Only HTML elements: a `<caption>` inside math is not special. */
function isSpecial(element: Element): boolean {
  return element.space === 0 && (element.tag.flags & SPECIAL) !== 0;
}

function sameElement(a: Element, b: Element): boolean {
  if (a.tag !== b.tag) return false;
  const [left, right] = [a.document.source, b.document.source];
  if (left.slice(a.attrFrom, a.attrTo).trim() === right.slice(b.attrFrom, b.attrTo).trim()) return true;
  const [x, y] = [a.attributes, b.attributes];
  return x.length === y.length && [...x].sort().join("\0") === [...y].sort().join("\0");
}
