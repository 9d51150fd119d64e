/** Scans tags, attributes, comments and raw text by position, without copying. */

const TAB = 9;
const LF = 10;
const FF = 12;
const CR = 13;
const SPACE = 32;
const QUOTE = 34;
const APOSTROPHE = 39;
const SLASH = 47;
const EQUALS = 61;
const GREATER = 62;

/** A tag with a million attributes is an attack; real ones have a dozen. */
const MAX_ATTRIBUTES = 500;

export function isSpace(code: number): boolean {
  return code === SPACE || code === LF || code === TAB || code === CR || code === FF;
}

export function isLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
}

export function isBlank(source: string, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) if (!isSpace(source.charCodeAt(at))) return false;
  return true;
}

/** The end of a tag's name. */
export function nameEnd(source: string, from: number): number {
  let at = from;
  for (; at < source.length; at += 1) {
    const code = source.charCodeAt(at);
    if (code === GREATER || code === SLASH || isSpace(code)) break;
  }
  return at;
}

/**
 * The position of the `>` that ends a tag; -1: the page ends first. A quote counts only at the start of a value, not in
 * `<a title=it's href=x>`.
 */
export function tagEnd(source: string, from: number): number {
  const { length } = source;
  let at = from;
  while (at < length) {
    let code = source.charCodeAt(at);
    if (code === GREATER) return at;
    if (code === SLASH || isSpace(code)) {
      at += 1;
      continue;
    }
    // A name: up to space, slash, > or =; a leading = belongs to it.
    at += 1;
    while (at < length) {
      code = source.charCodeAt(at);
      if (code === EQUALS || code === GREATER || code === SLASH || isSpace(code)) break;
      at += 1;
    }
    while (at < length && isSpace(source.charCodeAt(at))) at += 1;
    if (source.charCodeAt(at) !== EQUALS) continue;
    at += 1;
    while (at < length && isSpace(source.charCodeAt(at))) at += 1;
    at = valueEnd(source, at);
    if (at < 0) return -1;
  }
  return -1;
}

/** The end of a value, including the closing quote; -1: unclosed. */
function valueEnd(source: string, from: number): number {
  const code = source.charCodeAt(from);
  if (code === QUOTE || code === APOSTROPHE) {
    const end = source.indexOf(code === QUOTE ? '"' : "'", from + 1);
    return end < 0 ? -1 : end + 1;
  }
  let at = from;
  for (; at < source.length; at += 1) {
    const next = source.charCodeAt(at);
    if (next === GREATER || isSpace(next)) break;
  }
  return at;
}

export interface AttributeRange {
  source: string;
  from: number;
  to: number;
}

/** The same scan as `tagEnd`, collecting names and values. The first of two equal names wins. */
export function readAttributes(range: AttributeRange, xml: boolean, decode: (text: string) => string): string[] {
  const { source, to } = range;
  const list: string[] = [];
  let at = range.from;
  while (at < to) {
    const code = source.charCodeAt(at);
    if (code === SLASH || isSpace(code)) {
      at += 1;
      continue;
    }
    const nameFrom = at;
    at += 1;
    while (at < to) {
      const next = source.charCodeAt(at);
      if (next === EQUALS || next === SLASH || isSpace(next)) break;
      at += 1;
    }
    const name = attributeName(source, nameFrom, at, xml);
    while (at < to && isSpace(source.charCodeAt(at))) at += 1;
    let value = "";
    if (at < to && source.charCodeAt(at) === EQUALS) {
      at += 1;
      while (at < to && isSpace(source.charCodeAt(at))) at += 1;
      if (at < to) {
        const end = Math.min(valueEnd(source, at), to);
        const first = source.charCodeAt(at);
        const quoted = first === QUOTE || first === APOSTROPHE;
        value = quoted ? source.slice(at + 1, end - 1) : source.slice(at, end);
        if (value.includes("&")) value = decode(value);
        at = end;
      }
    }
    if (!has(list, name)) list.push(name, value);
    if (list.length >= MAX_ATTRIBUTES * 2) break;
  }
  return list;
}

/** Nearly all attributes of real pages. */
const NAMES = new Map(
  "class id href src alt title rel type name content style lang dir hidden role target value width height border align valign itemprop itemscope itemtype datetime srcset sizes loading property charset http-equiv media onclick for action method colspan rowspan scope start checked disabled tabindex data-src data-srcset data-id aria-hidden aria-label aria-labelledby aria-expanded aria-controls accesskey shape summary cellpadding color face bgcolor xmlns fill stroke"
    .split(" ")
    .map((name) => [slotOf(name, 0, name.length), name]),
);

/** The same string for the same name: then comparing two is comparing two pointers. */
function attributeName(source: string, from: number, to: number, xml: boolean): string {
  const known = NAMES.get(slotOf(source, from, to));
  if (known !== undefined && known.length === to - from && source.startsWith(known, from)) return known;
  const name = source.slice(from, to);
  return xml ? name : name.toLowerCase();
}

/** A number that is different for nearly all names: the length, the first two letters and the last one. */
export function slotOf(text: string, from: number, to: number): number {
  const first = text.charCodeAt(from);
  const second = to - from === 1 ? 0 : text.charCodeAt(from + 1);
  const last = text.charCodeAt(to - 1);
  return ((to - from) & 63) * 2 ** 24 + (first & 255) * 65_536 + (second & 255) * 256 + (last & 255);
}

function has(list: readonly string[], name: string): boolean {
  for (let index = 0; index < list.length; index += 2) if (list[index] === name) return true;
  return false;
}

/** The position after the comment that starts at `<!--`; the end of the source when unclosed. */
export function commentEnd(source: string, start: number): number {
  const from = start + 4;
  if (source.charCodeAt(from) === GREATER) return from + 1;
  if (source.startsWith("->", from)) return from + 2;
  for (let at = source.indexOf("--", from); at >= 0; at = source.indexOf("--", at + 1)) {
    if (source.charCodeAt(at + 2) === GREATER) return at + 3;
    if (source.startsWith("!>", at + 2)) return at + 4;
  }
  return source.length;
}

/** The end of the text of a raw-text element (at its `</name`), or of the source. */
export function rawEnd(source: string, from: number, name: string): number {
  for (let at = source.indexOf("</", from); at >= 0; at = source.indexOf("</", at + 2)) {
    if (closes(source, at + 2, name)) return at;
  }
  return source.length;
}

/**
 * In `<!-- <script> … </script> -->` within a script, the inner end tag does not end it. `firstComment` is the position
 * of the next `<!--`, so that pages without one take the fast path.
 */
export function scriptEnd(source: string, from: number, firstComment: number): number {
  const plain = rawEnd(source, from, "script");
  if (firstComment < 0 || firstComment > plain) return plain;
  const token = /<!--|-->|<\/?script(?=[\t\n\f\r />])/gi;
  token.lastIndex = from;
  let escaped = false;
  let doubled = false;
  for (let match = token.exec(source); match !== null; match = token.exec(source)) {
    const text = match[0].toLowerCase();
    if (text === "<!--") escaped = true;
    else if (text === "-->") escaped = doubled = false;
    else if (text === "<script") doubled = escaped;
    else if (doubled) doubled = false;
    else return match.index;
    // `<!-->` both opens and closes.
    if (text === "<!--") token.lastIndex = match.index + 2;
    if (text === "<!--" && !source.startsWith("-->", match.index + 2)) token.lastIndex = match.index + 4;
  }
  return source.length;
}

function closes(source: string, at: number, name: string): boolean {
  for (let index = 0; index < name.length; index += 1) {
    if ((source.charCodeAt(at + index) | 32) !== name.charCodeAt(index)) return false;
  }
  const after = source.charCodeAt(at + name.length);
  return after === GREATER || after === SLASH || isSpace(after);
}
