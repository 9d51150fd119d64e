/**
 * Markdown that came with a record, which may be anything that a page says. It keeps its form. But only HTML that the
 * product writes itself stays HTML, no line defines what links elsewhere in the file mean, and none looks like the
 * beginning of another record.
 */

const LINE_END = /\r\n|[\r\n]/;
const FENCE = /^( {0,3})(`{3,}(?=[^`]*$)|~{3,})/;
/** A fence inside a list or a quotation: where it ends depends on what is around it. */
const HIDDEN_FENCE = /^(?:[ \t]*[>*+\-\d.)][ \t>*+\-\d.)]*| {4,}|(?= *\t)[ \t]+)(?:`{3}|~{3})/;
/** What the product writes where Markdown has no sign that would be read back, and addresses. */
const KEPT = /^<(?:br|\/?(?:strong|em|del|sup|sub|code|pre)|\/a|a href="https?:\/\/[^"<>`\s]*"|https?:\/\/[^\s<>`]*)>/;

export function safeBody(markdown: string): string {
  const lines = markdown
    // oxlint-disable-next-line no-control-regex
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, " ")
    .split(LINE_END);
  const { kinds, open } = kindsOf(lines) ?? { kinds: null, open: null };
  const spans = kinds === null ? null : codeSpans(lines, kinds);
  const keepsPre = count(markdown, "<pre>") === count(markdown, "</pre>");
  const written = lines.map((line, index) => {
    const kind = kinds?.[index] ?? "html";
    return kind === "code" ? line : safeLine(line, spans?.[index] ?? [], { keepsPre, escapes: kind === "text" });
  });
  if (open !== null) written.push(open);
  return withoutFrontMatter(written).join("\n").trim();
}

function count(text: string, part: string): number {
  return text.split(part).length - 1;
}

/** `code`: between fences; `html`: maybe HTML, in which backticks and fences mean nothing. */
type LineKind = "text" | "code" | "html";

interface Kinds {
  kinds: readonly LineKind[];
  /** What closes a fence that is left open. */
  open: string | null;
}

const TAG_FIRST = /^[ \t>*+\-\d.)]*<(?!https?:)/;

/** Null unless it is beyond doubt where fences begin and end. */
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
  return { kinds, open: fence === null ? null : fence.indent + fence.mark };
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

/** The code of each line; null if one of them holds backticks that something in another line may pair with. */
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
      // A bar ends a cell of a table, even in code, unless it has one backslash.
      if (/(?<!\\)\||\\\\\|/.test(line.slice(at, to))) return null;
      spans.push([at, to]);
      at = to;
    }
  }
  return spans;
}

interface Rules {
  keepsPre: boolean;
  /** A backslash escapes what follows, which it does not in HTML. */
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

/** Longer addresses are no longer links in browsers either. */
const LONGEST_TAG = 2100;

function safeText(text: string, { keepsPre, escapes }: Rules): string {
  return text
    .replace(/(\\*)</g, (found, backslashes: string, at: number) => {
      if (backslashes.length % 2 === 1) return escapes ? found : `${backslashes.slice(1)}&lt;`;
      const [tag] = KEPT.exec(text.slice(at + backslashes.length, at + LONGEST_TAG)) ?? [];
      const isKept = tag !== undefined && (keepsPre || !tag.includes("pre>"));
      return isKept ? found : `${backslashes}&lt;`;
    })
    .replaceAll("]:", "]\\:");
}

/** A line of dashes before one that begins with `url:` begins a record. A space makes it another line, and the same Markdown. */
function withoutFrontMatter(lines: readonly string[]): string[] {
  return lines.map((line, index) =>
    line === "---" && lines[index + 1]?.startsWith("url:") === true ? `${line} ` : line,
  );
}
