/**
 * A streaming XML reader for the parts of documents. Names are without their prefix. Nothing is fetched or expanded: the
 * formats need no document type, and one that declares entities is rejected.
 */
import { damaged } from "./document.ts";

export type Attributes = Readonly<Record<string, string>>;

interface XmlHandler {
  open?(name: string, attributes: Attributes, depth: number): void;
  text?(text: string): void;
  close?(name: string, depth: number): void;
}

const MAX_DEPTH = 2000;
/** A single tag or text longer than this is an attack. */
const MAX_PENDING = 16 * 1024 * 1024;

export class XmlReader {
  readonly #handler: XmlHandler;
  /** The start of a tag or a text whose end has not come yet. */
  #pending: string[] = [];
  #pendingLength = 0;
  readonly #open: string[] = [];
  /** Without the handler the rest is not looked at. */
  isStopped = false;

  constructor(handler: XmlHandler) {
    this.#handler = handler;
  }

  /** Ends the reading: the handler has what it needs. */
  stop(): void {
    this.isStopped = true;
  }

  feed(chunk: string): void {
    if (this.isStopped || chunk === "") return;
    // Text ends with the next tag, a tag with its bracket: without it, nothing is joined and looked through again.
    const [first] = this.#pending;
    if (first !== undefined && !chunk.includes(first.startsWith("<") ? ">" : "<")) return this.#keep(chunk);
    const source = this.#taken() + chunk;
    let at = 0;
    while (!this.isStopped) {
      const next = source.indexOf("<", at);
      if (next < 0) break;
      if (next > at) this.#text(source.slice(at, next));
      const end = this.#markup(source, next);
      if (end < 0) {
        at = next;
        break;
      }
      at = end;
    }
    if (at < source.length) this.#keep(source.slice(at));
  }

  /** An element that was not closed is no error: what there is was read. */
  end(): void {
    const rest = this.#taken();
    if (!this.isStopped && rest !== "" && !rest.startsWith("<")) this.#text(rest);
  }

  #keep(part: string): void {
    this.#pending.push(part);
    this.#pendingLength += part.length;
    if (this.#pendingLength > MAX_PENDING)
      throw damaged("a part of the document is not valid XML, or has too long a text");
  }

  #taken(): string {
    const text = this.#pending.length === 1 ? this.#pending[0]! : this.#pending.join("");
    this.#pending = [];
    this.#pendingLength = 0;
    return text;
  }

  #text(text: string): void {
    if (this.#open.length > 0) this.#handler.text?.(decode(text));
  }

  /** The position after the markup; -1: it is incomplete. */
  #markup(source: string, at: number): number {
    if (source.startsWith("<!--", at)) return after(source, "-->", at + 4);
    if (source.startsWith("<![CDATA[", at)) {
      const end = source.indexOf("]]>", at + 9);
      if (end < 0) return -1;
      if (this.#open.length > 0) this.#handler.text?.(source.slice(at + 9, end));
      return end + 3;
    }
    if (source.startsWith("<?", at)) return after(source, "?>", at + 2);
    if (source.startsWith("<!", at)) return declaration(source, at);
    const end = tagEnd(source, at + 1);
    if (end < 0) return -1;
    if (source.charCodeAt(at + 1) === 47) this.#close(localName(source.slice(at + 2, end).trim()));
    else this.#openTag(source.slice(at + 1, end));
    return end + 1;
  }

  #openTag(tag: string): void {
    const isEmpty = tag.endsWith("/");
    const match = /^[^\s/]+/.exec(tag);
    if (match === null) throw damaged("a part of the document is not valid XML");
    const name = localName(match[0]);
    const depth = this.#open.length;
    if (depth >= MAX_DEPTH) throw damaged("a part of the document is nested too deeply");
    this.#open.push(name);
    this.#handler.open?.(name, attributesOf(tag, match[0].length), depth);
    if (isEmpty) this.#close(name);
  }

  #close(name: string): void {
    if (this.#open.at(-1) !== name && !this.#open.includes(name)) return;
    for (let last = this.#open.pop(); last !== undefined; last = this.#open.pop()) {
      this.#handler.close?.(last, this.#open.length);
      if (last === name) return;
    }
  }
}

export function readXml(text: string, handler: XmlHandler): void {
  const reader = new XmlReader(handler);
  reader.feed(text);
  reader.end();
}

/** `reader` stops early by `stop`. */
export async function readXmlChunks(chunks: AsyncIterable<Buffer>, reader: XmlReader): Promise<void> {
  let decoder: InstanceType<typeof TextDecoder> | null = null;
  for await (const chunk of chunks) {
    decoder ??= new TextDecoder(encodingOf(chunk));
    reader.feed(decoder.decode(chunk, { stream: true }));
    if (reader.isStopped) return;
  }
  reader.feed(decoder?.decode() ?? "");
  reader.end();
}

function encodingOf(start: Buffer): string {
  if (start[0] === 0xff && start[1] === 0xfe) return "utf-16le";
  return start[0] === 0xfe && start[1] === 0xff ? "utf-16be" : "utf-8";
}

function after(source: string, mark: string, from: number): number {
  const at = source.indexOf(mark, from);
  return at < 0 ? -1 : at + mark.length;
}

function declaration(source: string, at: number): number {
  const close = source.indexOf(">", at);
  if (close < 0) return -1;
  const bracket = source.indexOf("[", at);
  if (bracket >= 0 && bracket < close)
    throw damaged("a part of the document declares XML entities, which is not allowed");
  return close + 1;
}

/** The `>` of a tag, outside of quotes. */
function tagEnd(source: string, from: number): number {
  let quote = 0;
  for (let at = from; at < source.length; at += 1) {
    const code = source.charCodeAt(at);
    if (quote !== 0) {
      if (code === quote) quote = 0;
    } else if (code === 34 || code === 39) quote = code;
    else if (code === 62) return at;
  }
  return -1;
}

function localName(name: string): string {
  const colon = name.indexOf(":");
  return colon < 0 ? name : name.slice(colon + 1);
}

const ATTRIBUTE = /([^\s=/"']+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;

/** By local name; `r:id` is also under `r:id`, because some elements have an `id` of their own. */
function attributesOf(tag: string, from: number): Attributes {
  const found: Record<string, string> = Object.create(null) as Record<string, string>;
  if (tag.length <= from + 1) return found;
  ATTRIBUTE.lastIndex = from;
  for (let match = ATTRIBUTE.exec(tag); match !== null; match = ATTRIBUTE.exec(tag)) {
    const [, name = "", double, single] = match;
    const value = decode(double ?? single ?? "");
    const local = localName(name);
    if (local !== name) found[name] = value;
    if (local === name || found[local] === undefined) found[local] = value;
  }
  return found;
}

const NAMED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };

export function decode(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&(#x[0-9a-f]{1,6}|#[0-9]{1,7}|[a-z]{2,6});/gi, (whole, name: string) => {
    if (!name.startsWith("#")) return NAMED[name] ?? whole;
    const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : " ";
  });
}
