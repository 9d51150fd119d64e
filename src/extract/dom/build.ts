/**
 * Tree construction by the HTML standard, so that broken pages parse as in a browser. Omitted: what only scripts and
 * rendering can observe (doctype details, frameset pages, comments).
 */
import { BodyRules } from "./body-rules.ts";
import { Formatting } from "./formatting.ts";
import type { Element } from "./nodes.ts";
import { OpenElements } from "./open-elements.ts";
import { isQuirks } from "./quirks.ts";
import { isBlank, isSpace } from "./scan.ts";
import { Tables } from "./tables.ts";
import { HEAD_CONTENT, type Tag, TAGS, VOID } from "./tags.ts";

const tag = (name: string): Tag => TAGS.get(name) as Tag;
const HTML = tag("html");
const HEAD = tag("head");
const BODY = tag("body");
const P = tag("p");
const BR = tag("br");
const SVG = tag("svg");

export class TreeBuilder {
  readonly open: OpenElements;
  readonly #formatting: Formatting;
  readonly #tables: Tables;
  readonly #rules: BodyRules;
  #hasDoctype = false;

  constructor(source: string) {
    this.open = new OpenElements(source);
    this.#formatting = new Formatting(this.open);
    this.#tables = new Tables(this.open, this.#formatting);
    this.#rules = new BodyRules(this.open, this.#formatting);
  }

  /** Only the first one counts, and only before any element. */
  doctype(text: string): void {
    if (this.#rules.html !== null || this.#hasDoctype) return;
    this.#hasDoctype = true;
    this.#rules.quirks = isQuirks(text);
  }

  startTag(tag: Tag, from: number, to: number, selfClosing: boolean): void {
    const { open } = this;
    if (open.inForeign() && !(tag === SVG && open.current.tag.name === "annotation-xml")) {
      const breaksOut = open.breaksOut(tag) || (tag.name === "font" && to > from && this.#isHtmlFont(from, to));
      if (!breaksOut) {
        const element = open.insert(tag, from, to, open.current.space);
        if (!selfClosing) open.push(element);
        return;
      }
      open.leaveForeign();
    }
    for (let round = 0; round < 8; round += 1) {
      if (open.mode === "in-body") return this.#rules.startTag(tag, from, to, selfClosing);
      if (open.early && !this.#beforeBody(tag, from, to)) return;
      const verdict = this.#tables.startTag(tag, from, to);
      if (verdict === "done") return;
      if (verdict === "again") continue;
      if (verdict === "foster" && this.#rules.startInTable(tag, from, to)) return;
      open.fostering = verdict === "foster";
      this.#rules.startTag(tag, from, to, selfClosing);
      open.fostering = false;
      return;
    }
  }

  endTag(tag: Tag): void {
    const { open } = this;
    if (open.current.space !== 0 && this.#endInForeign(tag)) return;
    if (open.early && !this.#endBeforeBody(tag)) return;
    for (let round = 0; round < 8; round += 1) {
      if (open.mode === "in-body") return this.#rules.endTag(tag);
      const verdict = this.#tables.endTag(tag);
      if (verdict === "done") return;
      if (verdict === "again") continue;
      open.fostering = verdict === "foster";
      this.#rules.endTag(tag);
      open.fostering = false;
      return;
    }
  }

  text(start: number, to: number): void {
    let from = start;
    const { open } = this;
    const { source } = open.document;
    if (open.inForeign()) return open.text(from, to, false);
    if (open.mode === "in-body") {
      this.#formatting.reconstruct();
      return open.text(from, to, false);
    }
    const blank = isBlank(source, from, to);
    if (open.early || open.mode === "in-colgroup") {
      while (from < to && isSpace(source.charCodeAt(from))) from += 1;
      // White space stays; the first other character ends the head, or the column group.
      if (from > start && open.mode !== "before-head") open.text(start, from, false);
      if (blank) return;
    }
    if (open.early) this.#startBody(0, 0);
    if (open.mode === "in-colgroup") {
      if (open.current.tag.rule !== "colgroup") return;
      open.stack.pop();
      open.mode = "in-table";
    }
    if (open.mode === "in-table" || open.mode === "in-table-body" || open.mode === "in-row") {
      if (blank && open.inTablePart) return open.text(from, to, false);
      open.fostering = true;
    }
    this.#formatting.reconstruct();
    open.text(from, to, false);
    open.fostering = false;
  }

  /** The rest of the page, to its last character. */
  plaintext(from: number, to: number): void {
    this.#formatting.reconstruct();
    this.open.text(from, to, true);
  }

  cdata(from: number, to: number): void {
    this.open.text(from, to, true);
  }

  /** A complete raw-text element: its text is known with its start tag. */
  raw(tag: Tag, from: number, to: number, textFrom: number, textTo: number, decoded: boolean): void {
    this.startTag(tag, from, to, false);
    const { open } = this;
    if (open.current.tag !== tag || open.current.attrFrom !== from) return;
    if (textTo > textFrom) open.text(textFrom, textTo, !decoded);
    open.stack.pop();
  }

  /** Every page has html, head and body. */
  finish(): void {
    if (this.#rules.body === null) this.#startBody(0, 0);
  }

  #isHtmlFont(from: number, to: number): boolean {
    return /(^|\s)(color|face|size)\s*=/i.test(this.open.document.source.slice(from, Math.min(to, from + 1000)));
  }

  #needHtml(from = 0, to = 0): void {
    if (this.#rules.html === null) this.#rules.html = this.open.open(HTML, from, to);
  }

  #startBody(from: number, to: number, tag: Tag = BODY): void {
    const { open } = this;
    this.#needHtml();
    if (this.#rules.head === null) this.#rules.head = open.insert(HEAD, 0, 0);
    open.stack.length = 1;
    this.#rules.body = open.open(tag, from, to);
    open.mode = "in-body";
  }

  /** False: the tag was handled. */
  #beforeBody(tag: Tag, from: number, to: number): boolean {
    const { open } = this;
    if (tag.rule === "html") {
      if (this.#rules.html === null) this.#needHtml(from, to);
      else this.#rules.merge(this.#rules.html, HTML, from, to);
      return false;
    }
    this.#needHtml();
    if (tag.rule === "head") {
      if (this.#rules.head !== null) return false;
      this.#rules.head = open.open(HEAD, from, to);
      open.mode = "in-head";
      return false;
    }
    if ((tag.flags & HEAD_CONTENT) !== 0) {
      if (this.#rules.head === null) {
        this.#rules.head = open.open(HEAD);
        open.mode = "in-head";
      } else if (open.mode === "after-head") {
        open.push(this.#rules.head);
      }
      const after = open.mode === "after-head";
      open.open(tag, from, to);
      if (tag.rule === "template") {
        this.#formatting.mark();
        open.enterTemplate();
        return false;
      }
      if ((tag.flags & VOID) !== 0) open.stack.pop();
      // The text of a raw-text element follows directly; its end pops it and leaves the head on the stack.
      if (after) this.#leaveHeadAfter();
      return false;
    }
    if (tag.rule === "body" || tag.rule === "frameset") {
      this.#startBody(from, to, tag);
      return false;
    }
    this.#startBody(0, 0);
    return true;
  }

  #leaveHeadAfter(): void {
    const { stack } = this.open;
    const at = stack.indexOf(this.#rules.head as Element);
    if (at >= 0) stack.splice(at, 1);
  }

  #endBeforeBody(tag: Tag): boolean {
    const { open } = this;
    if (tag.rule === "head" && open.mode !== "after-head") {
      this.#needHtml();
      if (this.#rules.head === null) this.#rules.head = open.insert(HEAD, 0, 0);
      open.stack.length = 1;
      open.mode = "after-head";
      return false;
    }
    if (tag.rule === "body" || tag.rule === "html" || tag === BR) {
      this.#startBody(0, 0);
      return true;
    }
    return false;
  }

  #endInForeign(tag: Tag): boolean {
    const { stack } = this.open;
    if (tag === BR || tag === P) {
      this.open.leaveForeign();
      return false;
    }
    for (let at = stack.length - 1; at > 0; at -= 1) {
      const element = stack[at] as Element;
      if (element.space === 0) return false;
      if (element.tag.name === tag.name) {
        stack.length = at;
        return true;
      }
    }
    return false;
  }
}
