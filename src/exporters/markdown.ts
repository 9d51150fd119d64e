/**
 * For reading: a section per record with its title, its address, its fields as a list, and its text as a quotation.
 *
 * What was scraped cannot break out of its place. Titles and fields are single lines in which everything that means
 * something in Markdown or HTML is escaped. A body stands in a block quotation, which ends whatever was left open in it,
 * and its HTML is shown rather than used.
 */
import type { JsonValue } from "../domain/queue-item.ts";
import type { Exporter, ExportRecord } from "./exporter.ts";
import { inChunks } from "./stream.ts";

export const markdownExporter: Exporter = {
  name: "markdown",
  contentType: "text/markdown; charset=utf-8",
  extension: "md",
  about: "for reading: a section per record",
  isText: true,
  export: (records) => inChunks(sections(records)),
};

async function* sections(records: AsyncIterable<ExportRecord>): AsyncGenerator<string> {
  let before = "";
  for await (const record of records) {
    yield `${before}${section(record)}`;
    before = "\n";
  }
  if (before === "") yield "No results.\n";
}

function section({ url, data }: ExportRecord): string {
  const title = text(data, "title");
  const markdown = text(data, "markdown");
  const plain = text(data, "text");
  // The plain text of a page says the same as its Markdown; one of them is enough.
  const shown = new Set(["markdown", "text"].filter((field) => text(data, field) !== null));
  if (title !== null) shown.add("title");
  const fields = Object.entries(data).filter(([field]) => !shown.has(field));
  const parts = [`## ${title === null ? escaped(url) : escaped(title)}`, address(url)];
  if (fields.length > 0)
    parts.push(fields.map(([name, value]) => `- **${escaped(name)}:** ${inline(value)}`).join("\n"));
  if (markdown !== null) parts.push(quoted(withoutHtml(markdown)));
  else if (plain !== null) parts.push(quoted(plain.split(LINE_END).map(paragraphLine)));
  return `${parts.join("\n\n")}\n`;
}

function text(data: Record<string, JsonValue>, field: string): string | null {
  const value = Object.hasOwn(data, field) ? data[field] : null;
  return typeof value === "string" && value.trim() !== "" ? value : null;
}

function address(url: string): string {
  return /^https?:\/\/[^\s<>]+$/.test(url) ? `<${url}>` : escaped(url);
}

function inline(value: JsonValue): string {
  if (value === null) return "–";
  return typeof value === "object" ? code(JSON.stringify(value)) : escaped(String(value));
}

/** A code span whose fence is longer than any in the text. */
function code(content: string): string {
  let fence = "`";
  for (const [run] of content.matchAll(/`+/g)) if (run.length >= fence.length) fence = `${run}\``;
  return `${fence} ${tidy(content)} ${fence}`;
}

const LINE_END = /\r\n|[\r\n\u2028\u2029]/;

/** One line in which nothing means anything: for headings, list items and lines of text. */
function escaped(content: string): string {
  return tidy(content).replace(/[\\`*_[\]<>#|~&!$^]/g, "\\$&");
}

/** Line ends and control characters become spaces: they would end the line, or are not allowed at all. */
function tidy(content: string): string {
  // oxlint-disable-next-line no-control-regex
  return content.replace(/[\s\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ").trim();
}

/** At the beginning of a line, signs and numbers may mean a list or an underlined heading. */
function paragraphLine(line: string): string {
  return escaped(line).replace(/^(?:[-+=:]|\d{1,9}(?=[.)]))/, (start) =>
    /\d/.test(start) ? `${start}\\` : `\\${start}`,
  );
}

function quoted(lines: readonly string[]): string {
  return lines.map((line) => (line === "" ? ">" : `> ${line}`)).join("\n");
}

const FENCE = /^(`{3,}(?=[^`]*$)|~{3,})/;
/** A fence inside a list, a quotation or behind spaces: where it ends depends on what is around it. */
const HIDDEN_FENCE = /^[ \t>*+\-\d.)]+(?:`{3}|~{3})/;

/**
 * Markdown that came with the record keeps its form, but a `<` that could begin a tag becomes `&lt;`, and a line cannot
 * define what links elsewhere in the document mean. Code between fences is left alone, as long as it is beyond doubt
 * where it ends.
 */
function withoutHtml(markdown: string): string[] {
  const lines = markdown
    // oxlint-disable-next-line no-control-regex
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, " ")
    .split(LINE_END);
  const certain = !lines.some((line) => HIDDEN_FENCE.test(line));
  let fence: string | null = null;
  return lines.map((line) => {
    if (fence !== null) {
      const closing = /^ {0,3}(`+|~+)[ \t]*$/.exec(line)?.[1];
      if (closing !== undefined && closing[0] === fence[0] && closing.length >= fence.length) fence = null;
      return line;
    }
    fence = certain ? (FENCE.exec(line)?.[1] ?? null) : null;
    if (fence !== null) return line;
    return line.replace(/<(?!https?:\/\/[^\s<>]*>)/g, "&lt;").replaceAll("]:", "]\\:");
  });
}
