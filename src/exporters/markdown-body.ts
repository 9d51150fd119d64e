/**
 * Markdown of a record: untrusted content of a page. It keeps its form, but only HTML that the product writes itself
 * stays HTML, no line defines link references for the rest of the file, and none looks like the start of another
 * record.
 */

const LINE_END = /\r\n|[\r\n]/;
const FENCE = /^( {0,3})(`{3,}(?=[^`]*$)|~{3,})/;
/** A fence inside a list or a quotation: its end depends on its context. */
const HIDDEN_FENCE = /^(?:[ \t]*[>*+\-\d.)][ \t>*+\-\d.)]*| {4,}|(?= *\t)[ \t]+)(?:`{3}|~{3})/;
/** Tags that the product writes where Markdown has no equivalent, and autolinks. */
const KEPT = /^<(?:br|\/?(?:strong|em|del|sup|sub|code|pre)|\/a|a href="https?:\/\/[^"<>`\s]*"|https?:\/\/[^\s<>`]*)>/;

export function safeBody(markdown: string): string {
  const lines = markdown
    // oxlint-disable-next-line no-control-regex
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, " ")
    .split(LINE_END);
  const { kinds, closingFence } = kindsOf(lines) ?? { kinds: null, closingFence: null };
  const spans = kinds === null ? null : codeSpans(lines, kinds);
  const keepsPre = count(markdown, "<pre>") === count(markdown, "</pre>");
  const safeLines = lines.map((line, index) => {
    const kind = kinds?.[index] ?? "html";
    return kind === "code" ? line : safeLine(line, spans?.[index] ?? [], { keepsPre, escapes: kind === "text" });
  });
  if (closingFence !== null) safeLines.push(closingFence);
  return withoutFrontMatter(safeLines).join("\n").trim();
}

function count(text: string, part: string): number {
  return text.split(part).length - 1;
}

/** `code`: between fences; `html`: possibly HTML, where backticks and fences have no meaning. */
type LineKind = "text" | "code" | "html";

interface Kinds {
  kinds: readonly LineKind[];
  /** The mark that closes an unclosed fence. */
  closingFence: string | null;
}

const TAG_FIRST = /^[ \t>*+\-\d.)]*<(?!https?:)/;

/** Null when it is uncertain where fences begin and end. */
function kindsOf(lines: readonly string[]): Kinds | null {
  const kinds: LineKind[] = [];
  let fence: { indent: string; mark: string } | null = null;
  let html: "paragraph" | "pre" | null = null;
  for (const line of lines) {
    if (fence !== null) {
      kinds.push("code");
      const end = endOfFence(line, fence);
      if (end === "uncertain") return null;
      if (end) fence = null;
      continue;
    }
    if (html === "paragraph" && line.trim() === "") html = null;
    if (html === null && TAG_FIRST.test(line)) html = line.includes("<pre") ? "pre" : "paragraph";
    if (html !== null) {
      if (/`{3}|~{3}/.test(line)) return null;
      kinds.push("html");
      if (html === "pre" && line.includes("</pre>")) html = "paragraph";
      continue;
    }
    if (HIDDEN_FENCE.test(line)) return null;
    const [, indent, mark] = FENCE.exec(line) ?? [];
    if (indent !== undefined && mark !== undefined) fence = { indent, mark };
    kinds.push(fence === null ? "text" : "code");
  }
  return { kinds, closingFence: fence === null ? null : fence.indent + fence.mark };
}

function endOfFence(line: string, { indent, mark }: { indent: string; mark: string }): boolean | "uncertain" {
  if (line.trim() === "") return false;
  // A line that is less indented ends a list, and the fence in it.
  if (!line.startsWith(indent)) return "uncertain";
  const [, before = "", closing = ""] = /^( *)(`+|~+)[ \t]*$/.exec(line) ?? [];
  if (closing[0] !== mark[0] || closing.length < mark.length) return false;
  return before === indent ? true : "uncertain";
}

type Span = readonly [from: number, to: number];

/** The code spans of each line; null if a line holds backticks that may pair with another line's. */
function codeSpans(lines: readonly string[], kinds: readonly LineKind[]): (readonly Span[])[] | null {
  const all: (readonly Span[])[] = [];
  for (const [index, line] of lines.entries()) {
    const spans = kinds[index] !== "text" || !line.includes("`") ? [] : spansOf(line);
    if (spans === null) return null;
    all.push(spans);
  }
  return all;
}

function spansOf(line: string): Span[] | null {
  const spans: Span[] = [];
  for (let at = 0; at < line.length;) {
    if (line[at] === "\\") at += 2;
    else if (line[at] !== "`") at += 1;
    else {
      const fence = (/^`+/.exec(line.slice(at)) as RegExpExecArray)[0];
      const length = line.slice(at + fence.length).search(new RegExp(`(?<!\`)${fence}(?!\`)`));
      if (length < 0) return null;
      const to = at + length + 2 * fence.length;
      // An unescaped bar ends a table cell, even in code.
      if (/(?<!\\)\||\\\\\|/.test(line.slice(at, to))) return null;
      spans.push([at, to]);
      at = to;
    }
  }
  return spans;
}

interface Rules {
  keepsPre: boolean;
  /** A backslash escapes the next character; not so in HTML. */
  escapes: boolean;
}

function safeLine(line: string, spans: readonly Span[], rules: Rules): string {
  let out = "";
  let from = 0;
  for (const [start, end] of spans) {
    out += safeText(line.slice(from, start), rules) + line.slice(start, end);
    from = end;
  }
  return out + safeText(line.slice(from), rules);
}

/** Browsers do not follow longer URLs either. */
const MAX_TAG_LENGTH = 2100;

function safeText(text: string, { keepsPre, escapes }: Rules): string {
  return text
    .replace(/(\\*)</g, (found, backslashes: string, at: number) => {
      if (backslashes.length % 2 === 1) return escapes ? found : `${backslashes.slice(1)}&lt;`;
      const [tag] = KEPT.exec(text.slice(at + backslashes.length, at + MAX_TAG_LENGTH)) ?? [];
      const isKept = tag !== undefined && (keepsPre || !tag.includes("pre>"));
      return isKept ? found : `${backslashes}&lt;`;
    })
    .replaceAll("]:", "]\\:");
}

/**
 * `---` followed by a line that begins with `url:` starts a record. A trailing space breaks the pattern and is the same
 * Markdown.
 */
function withoutFrontMatter(lines: readonly string[]): string[] {
  return lines.map((line, index) =>
    line === "---" && lines[index + 1]?.startsWith("url:") === true ? `${line} ` : line,
  );
}
