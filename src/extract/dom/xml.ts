/**
 * A lenient XML parser for feeds, sitemaps and documents. The DTD is skipped, so no custom or external entities exist;
 * numeric and HTML entities are decoded, which many feeds use without declaring them. Tolerates other errors as far as
 * possible: many feeds are not well-formed.
 */
import { Document, Element, TextNode } from "./nodes.ts";
import { MAX_DEPTH, MAX_NODES } from "./open-elements.ts";
import { isLetter, nameEnd, tagEnd } from "./scan.ts";
import { type Bucket, CONTROL, SILENT, STRONG, Tag, tagNamed, TAGS } from "./tags.ts";

const SLASH = 47;
const BANG = 33;
const QUESTION = 63;

export function parseXml(text: string): Document {
  const source = text.includes("\0") ? text.replaceAll("\0", "") : text;
  return new XmlParser(source).parse();
}

class XmlParser {
  readonly #source: string;
  readonly #document: Document;
  readonly #stack: Element[];
  readonly #tags = new Map<string, Tag>();

  constructor(source: string) {
    this.#source = source;
    this.#document = new Document(source, true, tagNamed("#document"));
    this.#stack = [this.#document.root];
  }

  parse(): Document {
    const source = this.#source;
    let at = 0;
    while (at < source.length && this.#document.nodes < MAX_NODES) {
      const next = source.indexOf("<", at);
      const to = next < 0 ? source.length : next;
      if (to > at && this.#stack.length > 1) this.#text(at, to, false);
      if (next < 0) return this.#document;
      at = this.#markup(next);
    }
    this.#document.truncated = at < source.length;
    return this.#document;
  }

  #text(from: number, to: number, raw: boolean): void {
    const parent = this.#stack.at(-1) as Element;
    const node = new TextNode(this.#source, from, to, raw);
    this.#document.nodes += 1;
    if (parent.last?.kind === 3) parent.last.append(node);
    else parent.append(node);
  }

  #markup(at: number): number {
    const source = this.#source;
    const code = source.charCodeAt(at + 1);
    if (code === BANG) return this.#declaration(at);
    if (code === QUESTION) return after(source, "?>", at + 2);
    if (code === SLASH) {
      const end = nameEnd(source, at + 2);
      this.#close(source.slice(at + 2, end));
      return after(source, ">", end);
    }
    if (!isLetter(code) && code !== 95 && code < 128) {
      if (this.#stack.length > 1) this.#text(at, at + 1, true);
      return at + 1;
    }
    const from = nameEnd(source, at + 1);
    const to = tagEnd(source, from);
    if (to < 0) return source.length;
    const tag = this.#tag(source.slice(at + 1, from));
    const element = new Element(this.#document, tag, 0, from, to);
    this.#document.nodes += 1;
    (this.#stack.at(-1) as Element).append(element);
    if (tag.bucket !== null) this.#document.buckets[tag.bucket].push(element);
    if (source.charCodeAt(to - 1) !== SLASH) {
      this.#stack.push(element);
      if (this.#stack.length > MAX_DEPTH) this.#stack.pop();
    }
    return to + 1;
  }

  #declaration(at: number): number {
    const source = this.#source;
    if (source.startsWith("<!--", at)) return after(source, "-->", at + 4);
    if (source.startsWith("<![CDATA[", at)) {
      const end = source.indexOf("]]>", at + 9);
      const to = end < 0 ? source.length : end;
      if (to > at + 9 && this.#stack.length > 1) this.#text(at + 9, to, true);
      return end < 0 ? to : to + 3;
    }
    // <!DOCTYPE … [ … ]>: skipped, including entity definitions.
    const close = after(source, ">", at);
    const bracket = source.slice(at, close).indexOf("[");
    return bracket < 0 ? close : after(source, ">", after(source, "]", at + bracket));
  }

  #close(name: string): void {
    for (let at = this.#stack.length - 1; at > 0; at -= 1) {
      if (this.#stack[at]?.tag.name !== name) continue;
      this.#stack.length = at;
      return;
    }
  }

  #tag(name: string): Tag {
    let tag = this.#tags.get(name);
    if (tag === undefined) {
      const bucket: Bucket | null = name === "title" ? "title" : null;
      const flags = (TAGS.get(name)?.flags ?? 0) & (SILENT | CONTROL | STRONG);
      tag = new Tag(name.length > 256 ? name.slice(0, 256) : name, "ordinary", flags, bucket);
      if (this.#tags.size < 10_000) this.#tags.set(name, tag);
    }
    return tag;
  }
}

function after(source: string, mark: string, from: number): number {
  const at = source.indexOf(mark, from);
  return at < 0 ? source.length : at + mark.length;
}
