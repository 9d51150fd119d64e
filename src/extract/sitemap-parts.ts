/** Large sitemaps in pieces. */

/** A tree of 50,000 entries would be larger than trees may be: about so many characters are parsed at a time. */
const PART = 512 * 1024;
const MARKS = /<!--|<!\[CDATA\[|<\/(?:[\w.-]{1,40}:)?(?:url|sitemap|item|entry)\s{0,9}>/g;

export function* partsOf(source: string): Generator<string> {
  let from = 0;
  while (source.length - from > PART) {
    const to = endOfPart(source, from);
    yield source.slice(from, to);
    from = to;
  }
  if (from < source.length) yield source.slice(from);
}

/** Behind the end of an entry that is neither in a comment nor in a piece of raw text. */
function endOfPart(source: string, from: number): number {
  let at = from;
  for (;;) {
    MARKS.lastIndex = at;
    const mark = MARKS.exec(source);
    if (mark === null) return source.length;
    at = mark.index + mark[0].length;
    if (mark[0].startsWith("</")) {
      if (at - from >= PART) return at;
      continue;
    }
    const close = mark[0] === "<!--" ? "-->" : "]]>";
    const closed = source.indexOf(close, at);
    if (closed < 0) return source.length;
    at = closed + close.length;
  }
}
