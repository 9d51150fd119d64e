/** The HTML tokenizer: finds tags and text for the tree builder. Linear in the length of the page. */
import { TreeBuilder } from "./build.ts";
import type { Document } from "./nodes.ts";
import { commentEnd, isLetter, nameEnd, rawEnd, scriptEnd, slotOf, tagEnd } from "./scan.ts";
import { RAW_TEXT, RC_DATA, Tag, TAGS } from "./tags.ts";

const BANG = 33;
const SLASH = 47;
const QUESTION = 63;
const LF = 10;

/** Finds most tags without a copy of their name. */
const BY_SLOT = new Map([...TAGS.values()].map((tag) => [slotOf(tag.name, 0, tag.name.length), tag]));

/** `mayHaveNulls`: false when the bytes of the page have none. */
export function parseHtml(text: string, mayHaveNulls = true): Document {
  return new HtmlParser(clean(text, mayHaveNulls)).parse();
}

/** Like browsers: drops null characters and normalizes line ends. */
function clean(text: string, mayHaveNulls: boolean): string {
  let source = text;
  if (mayHaveNulls && source.includes("\0")) source = source.replaceAll("\0", "");
  if (source.includes("\r")) source = source.replace(/\r\n?/g, "\n");
  return source;
}

class HtmlParser {
  readonly #source: string;
  readonly #builder: TreeBuilder;
  /** Unknown elements, per page: a shared table would grow without bound. */
  readonly #unknown = new Map<string, Tag>();
  #at = 0;
  #nextComment: number;

  constructor(source: string) {
    this.#source = source;
    this.#builder = new TreeBuilder(source);
    this.#nextComment = source.indexOf("<!--");
  }

  parse(): Document {
    const source = this.#source;
    const { open } = this.#builder;
    let textFrom = 0;
    while (this.#at < source.length && !open.full) {
      const at = source.indexOf("<", this.#at);
      if (at < 0) break;
      if (!this.#isMarkup(at)) {
        this.#at = at + 1;
        continue;
      }
      if (at > textFrom) this.#builder.text(textFrom, at);
      this.#at = this.#markup(at);
      textFrom = this.#at;
    }
    if (open.full) open.document.truncated = this.#at < source.length;
    else if (textFrom < source.length) this.#builder.text(textFrom, source.length);
    this.#builder.finish();
    return open.document;
  }

  /** `a < b` and a trailing `<` are text. */
  #isMarkup(at: number): boolean {
    const code = this.#source.charCodeAt(at + 1);
    if (isLetter(code) || code === BANG || code === QUESTION) return true;
    // So is a trailing `</`.
    return code === SLASH && at + 2 < this.#source.length;
  }

  #markup(at: number): number {
    const source = this.#source;
    const code = source.charCodeAt(at + 1);
    if (code === SLASH) {
      if (!isLetter(source.charCodeAt(at + 2))) return this.#bogus(at);
      const end = nameEnd(source, at + 2);
      const close = source.charCodeAt(end) === 62 ? end : tagEnd(source, end);
      if (close < 0) return source.length;
      this.#builder.endTag(this.#tag(at + 2, end));
      return close + 1;
    }
    if (code === BANG) return this.#declaration(at);
    if (code === QUESTION) return this.#bogus(at);
    return this.#startTag(at);
  }

  #declaration(at: number): number {
    const source = this.#source;
    if (source.startsWith("--", at + 2)) return commentEnd(source, at);
    if (source.startsWith("[CDATA[", at + 2) && this.#builder.open.current.space !== 0) {
      const end = source.indexOf("]]>", at + 9);
      const to = end < 0 ? source.length : end;
      if (to > at + 9) this.#builder.cdata(at + 9, to);
      return end < 0 ? to : to + 3;
    }
    const end = this.#bogus(at);
    if (source.slice(at + 2, at + 9).toLowerCase() === "doctype") this.#builder.doctype(source.slice(at + 9, end - 1));
    return end;
  }

  #bogus(at: number): number {
    const end = this.#source.indexOf(">", at + 2);
    return end < 0 ? this.#source.length : end + 1;
  }

  #startTag(at: number): number {
    const source = this.#source;
    const from = nameEnd(source, at + 1);
    const to = source.charCodeAt(from) === 62 ? from : tagEnd(source, from);
    if (to < 0) return source.length;
    const tag = this.#tag(at + 1, from);
    const builder = this.#builder;
    const { flags, name } = tag;
    const inForeign = builder.open.inForeign();
    if (!inForeign && ((flags & (RAW_TEXT | RC_DATA)) !== 0 || this.#isHeadNoscript(tag))) {
      return this.#rawElement(tag, from, to);
    }
    builder.startTag(tag, from, to, source.charCodeAt(to - 1) === SLASH);
    if (tag.rule === "plaintext" && !inForeign) {
      if (to + 1 < source.length) builder.plaintext(to + 1, source.length);
      return source.length;
    }
    // A line end directly after <pre> is dropped.
    if ((name === "pre" || name === "listing") && source.charCodeAt(to + 1) === LF) return to + 2;
    return to + 1;
  }

  #rawElement(tag: Tag, from: number, to: number): number {
    const source = this.#source;
    let textFrom = to + 1;
    if (tag.name === "script" && this.#nextComment >= 0 && this.#nextComment < textFrom) {
      this.#nextComment = source.indexOf("<!--", textFrom);
    }
    const textTo =
      tag.name === "script" ? scriptEnd(source, textFrom, this.#nextComment) : rawEnd(source, textFrom, tag.name);
    if (tag.name === "textarea" && source.charCodeAt(textFrom) === LF) textFrom += 1;
    this.#builder.raw(tag, from, to, textFrom, textTo, (tag.flags & RC_DATA) !== 0);
    if (textTo >= source.length) return source.length;
    const end = tagEnd(source, nameEnd(source, textTo + 2));
    return end < 0 ? source.length : end + 1;
  }

  /**
   * In a browser with scripts, `<noscript>` is text. That applies in the head, where a tracking pixel in it would end the
   * head. In the body its content is parsed: it often has the only usable copy of an image or a link.
   */
  #isHeadNoscript(tag: Tag): boolean {
    if (tag.name !== "noscript") return false;
    const { mode } = this.#builder.open;
    return mode === "before-head" || mode === "in-head" || mode === "after-head";
  }

  #tag(from: number, to: number): Tag {
    const known = BY_SLOT.get(slotOf(this.#source, from, to));
    if (known !== undefined && known.name.length === to - from && this.#source.startsWith(known.name, from))
      return known;
    let name = this.#source.slice(from, to);
    let tag = TAGS.get(name) ?? this.#unknown.get(name);
    if (tag !== undefined) return tag;
    name = name.toLowerCase();
    // Browsers treat <image> as <img>.
    if (name === "image" && this.#builder.open.current.space === 0) name = "img";
    tag = TAGS.get(name) ?? this.#unknown.get(name);
    if (tag === undefined) {
      // Bounded: a name may be as long as the page.
      tag = new Tag(name.length > 256 ? name.slice(0, 256) : name, "ordinary", 0, null);
      // `image` differs between svg and HTML.
      if (this.#unknown.size < 10_000 && name !== "image") this.#unknown.set(name, tag);
    }
    return tag;
  }
}
