/** Splits large sitemaps. */

/** Characters parsed at a time: a tree of 50,000 entries would exceed the node limit. */
const PART_LENGTH = 512 * 1024;
const MARKS = /<!--|<!\[CDATA\[|<\/(?:[\w.-]{1,40}:)?(?:url|sitemap|item|entry)\s{0,9}>/gi;

export function* partsOf(source: string): Generator<string> {
  let from = 0;
  while (source.length - from > PART_LENGTH) {
    const to = endOfPart(source, from);
    yield source.slice(from, to);
    from = to;
  }
  if (from < source.length) yield source.slice(from);
}

/** After the end of an entry, outside comments and CDATA. */
function endOfPart(source: string, from: number): number {
  let at = from;
  for (;;) {
    MARKS.lastIndex = at;
    const mark = MARKS.exec(source);
    if (mark === null) return source.length;
    at = mark.index + mark[0].length;
    if (mark[0].startsWith("</")) {
      if (at - from >= PART_LENGTH) return at;
      continue;
    }
    const close = mark[0] === "<!--" ? "-->" : "]]>";
    const closed = source.indexOf(close, at);
    if (closed < 0) return source.length;
    at = closed + close.length;
  }
}
