/** The "in body" insertion mode: which elements start and end tags close. */
import type { Formatting } from "./formatting.ts";
import type { Element } from "./nodes.ts";
import type { OpenElements } from "./open-elements.ts";
import { closeOption, closeSelect, leaveOptions } from "./select-rules.ts";
import { SPECIAL, type Tag, TAGS, VOID } from "./tags.ts";

const P = TAGS.get("p") as Tag;
const BR = TAGS.get("br") as Tag;

export class BodyRules {
  readonly #open: OpenElements;
  readonly #formatting: Formatting;
  html: Element | null = null;
  head: Element | null = null;
  body: Element | null = null;
  #form: Element | null = null;
  /** Quirks mode allows a table inside a paragraph. The default without a doctype. */
  quirks = true;

  constructor(open: OpenElements, formatting: Formatting) {
    this.#open = open;
    this.#formatting = formatting;
  }

  startTag(tag: Tag, from: number, to: number, selfClosing: boolean): void {
    const open = this.#open;
    switch (tag.rule) {
      case "ordinary":
        this.#formatting.reconstruct();
        open.open(tag, from, to);
        return;
      case "block":
      case "p":
      case "pre":
        open.closeP();
        open.open(tag, from, to);
        return;
      case "a":
        this.#closeOpenLink(tag);
        this.#formatting.reconstruct();
        this.#formatting.add(open.open(tag, from, to));
        return;
      case "formatting":
        this.#formatting.reconstruct();
        this.#formatting.add(open.open(tag, from, to));
        return;
      case "void":
        if (tag.name === "input") closeSelect(open);
        if (tag.name !== "param" && tag.name !== "source" && tag.name !== "track") this.#formatting.reconstruct();
        open.insert(tag, from, to);
        return;
      case "li":
      case "dd":
        this.#closeItem(tag);
        open.closeP();
        open.open(tag, from, to);
        return;
      case "heading":
        open.closeP();
        if (open.current.tag.rule === "heading") open.stack.pop();
        open.open(tag, from, to);
        return;
      case "head-content":
        open.open(tag, from, to);
        if ((tag.flags & VOID) !== 0) open.stack.pop();
        return;
      case "hr":
        open.closeP();
        leaveOptions(open);
        open.insert(tag, from, to);
        return;
      case "form":
        if (this.#form !== null && open.lastIndexOf("template") < 0) return;
        open.closeP();
        this.#form = open.open(tag, from, to);
        return;
      case "button":
        if (open.tagInScope(tag)) {
          open.impliedEnds();
          open.popThroughName("button");
        }
        this.#formatting.reconstruct();
        open.open(tag, from, to);
        return;
      case "nobr":
        this.#formatting.reconstruct();
        if (open.tagInScope(tag)) {
          this.#formatting.close(tag);
          this.#formatting.reconstruct();
        }
        this.#formatting.add(open.open(tag, from, to));
        return;
      case "object":
        this.#formatting.reconstruct();
        open.open(tag, from, to);
        this.#formatting.mark();
        return;
      case "table":
        if (!this.quirks) open.closeP();
        open.open(tag, from, to);
        open.mode = "in-table";
        return;
      case "raw":
        if (tag.name === "xmp") open.closeP();
        if (tag.name === "xmp") this.#formatting.reconstruct();
        open.open(tag, from, to);
        return;
      case "plaintext":
        open.closeP();
        open.open(tag, from, to);
        return;
      case "option":
        closeOption(open, tag);
        this.#formatting.reconstruct();
        open.open(tag, from, to);
        return;
      case "select":
        if (closeSelect(open)) return;
        this.#formatting.reconstruct();
        open.open(tag, from, to);
        return;
      case "ruby":
        if (open.inScope((element) => element.tag.name === "ruby")) open.impliedEnds();
        open.open(tag, from, to);
        return;
      case "template":
        open.open(tag, from, to);
        this.#formatting.mark();
        open.enterTemplate();
        return;
      case "foreign":
        this.#formatting.reconstruct();
        if (selfClosing) open.insert(tag, from, to, tag.name === "svg" ? 1 : 2);
        else open.open(tag, from, to, tag.name === "svg" ? 1 : 2);
        return;
      case "frameset":
      case "frame":
        if (open.current.tag.name !== "frameset") return;
        if (tag.rule === "frame") open.insert(tag, from, to);
        else open.open(tag, from, to);
        return;
      case "html":
        return this.merge(this.html, tag, from, to);
      case "body":
        return this.merge(this.body, tag, from, to);
      default:
        // Parts of tables and heads outside a table or head.
        return;
    }
  }

  /** Directly in a table, a form stays empty and a hidden input stays in place. True: handled here. */
  startInTable(tag: Tag, from: number, to: number): boolean {
    if (tag.rule === "form") {
      const free = this.#form === null && this.#open.lastIndexOf("template") < 0;
      if (free) this.#form = this.#open.insert(tag, from, to);
      return true;
    }
    if (tag.name !== "input") return false;
    const isHidden = /\btype\s*=\s*["']?hidden\b/i.test(
      this.#open.document.source.slice(from, Math.min(to, from + 1000)),
    );
    if (isHidden) this.#open.insert(tag, from, to);
    return isHidden;
  }

  #closeOpenLink(tag: Tag): void {
    const link = this.#formatting.find(tag);
    if (link === undefined) return;
    this.#formatting.close(tag);
    this.#formatting.remove(link);
    const at = this.#open.stack.indexOf(link);
    if (at >= 0) this.#open.stack.splice(at, 1);
  }

  /** `<li>` ends the `<li>` before it, `<dd>` and `<dt>` each other. */
  #closeItem(tag: Tag): void {
    const open = this.#open;
    for (let at = open.stack.length - 1; at >= 0; at -= 1) {
      const element = open.stack[at] as Element;
      if (element.tag.rule === tag.rule) {
        open.impliedEnds(element.tag);
        open.popThrough((other) => other === element);
        return;
      }
      const { flags, name } = element.tag;
      if ((flags & SPECIAL) !== 0 && name !== "address" && name !== "div" && name !== "p") return;
    }
  }

  merge(target: Element | null, tag: Tag, from: number, to: number): void {
    if (target === null || to <= from || this.#open.lastIndexOf("template") >= 0) return;
    const element = this.#open.create(tag, from, to, 0);
    target.addAttributes(element.attributes);
  }

  endTag(tag: Tag): void {
    const open = this.#open;
    // Fast path: nearly every end tag closes the current element.
    if (open.current.tag === tag && tag.rule !== "formatting" && tag.rule !== "a" && tag.rule !== "nobr") {
      if (tag.rule !== "body" && tag.rule !== "html" && tag.rule !== "template") {
        open.stack.pop();
        if (tag.rule === "form") this.#form = null;
        if (tag.rule === "object") this.#formatting.clearToMark();
        return;
      }
    }
    switch (tag.rule) {
      case "a":
      case "formatting":
      case "nobr":
        if (!this.#formatting.close(tag)) this.#endAnyOther(tag);
        return;
      case "block":
      case "pre":
      case "button":
      case "select":
      case "object":
        if (!open.tagInScope(tag)) return;
        open.impliedEnds();
        open.popThrough((element) => element.tag === tag);
        if (tag.rule === "object") this.#formatting.clearToMark();
        return;
      case "p":
        if (!open.hasP()) open.open(P);
        open.closeP();
        return;
      case "li":
        if (!open.inScope((element) => element.tag === tag, isList)) return;
        open.impliedEnds(tag);
        open.popThrough((element) => element.tag === tag);
        return;
      case "dd":
        if (!open.tagInScope(tag)) return;
        open.impliedEnds(tag);
        open.popThrough((element) => element.tag === tag);
        return;
      case "heading":
        if (!open.inScope(isHeading)) return;
        open.impliedEnds();
        open.popThrough(isHeading);
        return;
      case "form":
        return this.#endForm();
      case "template":
        if (open.lastIndexOf("template") < 0) return;
        open.popThroughName("template");
        this.#formatting.clearToMark();
        open.leaveTemplate();
        if (this.body === null && open.mode === "in-body" && open.lastIndexOf("template") < 0) {
          open.mode = open.stack.includes(this.head as Element) ? "in-head" : "after-head";
        }
        return;
      case "void":
        if (tag === BR) this.startTag(BR, 0, 0, false);
        return;
      case "body":
      case "html":
      case "head":
        return;
      default:
        return this.#endAnyOther(tag);
    }
  }

  #endForm(): void {
    const open = this.#open;
    const form = this.#form;
    this.#form = null;
    if (form === null || !open.inScope((element) => element === form)) return;
    open.impliedEnds();
    const at = open.stack.indexOf(form);
    if (at >= 0) open.stack.splice(at, 1);
  }

  #endAnyOther(tag: Tag): void {
    const open = this.#open;
    for (let at = open.stack.length - 1; at > 0; at -= 1) {
      const element = open.stack[at] as Element;
      if (element.tag.name === tag.name) {
        open.impliedEnds(tag);
        open.stack.length = Math.min(open.stack.length, at);
        return;
      }
      if ((element.tag.flags & SPECIAL) !== 0) return;
    }
  }
}

function isHeading(element: Element): boolean {
  return element.tag.rule === "heading";
}

function isList(element: Element): boolean {
  return element.tag.name === "ul" || element.tag.name === "ol";
}
