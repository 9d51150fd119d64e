/** Scraped text as Markdown that renders literally. */
import type { JsonValue } from "../domain/lane/queue-item.ts";

/** One line with all markup escaped: for headings, list items and paragraphs. */
export function escaped(content: string): string {
  return tidy(content).replace(/[\\`*_[\]<>#|~&!$^]/g, "\\$&");
}

/** Line ends would end the construct, control characters are not allowed: both become spaces. */
function tidy(content: string): string {
  // oxlint-disable-next-line no-control-regex
  return content.replace(/[\s\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ").trim();
}

const LINE_END = /\r\n|[\r\n\u2028\u2029]/;

/** Line by line; escapes characters and numbers that would start a list or underline a heading. */
export function paragraphs(text: string): string {
  return text.split(LINE_END).map(lineOfText).join("\n").trim();
}

function lineOfText(line: string): string {
  return escaped(line).replace(/^(?:[-+=:]|\d{1,9}(?=[.)]))/, (start) =>
    /\d/.test(start) ? `${start}\\` : `\\${start}`,
  );
}

/** Deeper nesting is unreadable as a list and is written as JSON. */
const MAX_DEPTH = 8;

/** Fields as a list, nested values as nested lists. */
export function fieldList(fields: readonly (readonly [string, JsonValue])[]): string {
  return fields.flatMap(([name, value]) => named(name, value, 0)).join("\n");
}

function named(name: string, value: JsonValue, depth: number): string[] {
  const label = `${"  ".repeat(depth)}- **${escaped(name) || "–"}:**`;
  return isNested(value, depth) ? [label, ...inside(value, depth + 1)] : [`${label} ${plain(value)}`];
}

function inside(value: JsonValue[] | Record<string, JsonValue>, depth: number): string[] {
  if (!Array.isArray(value)) return Object.entries(value).flatMap(([name, nested]) => named(name, nested, depth));
  return value.flatMap((element, index) => {
    const dash = `${"  ".repeat(depth)}-`;
    if (!isNested(element, depth)) return [`${dash} ${plain(element)}`];
    if (Array.isArray(element) || Object.values(element).some((nested) => isNested(nested, depth)))
      return [`${dash} **${index + 1}**`, ...inside(element, depth + 1)];
    return [`${dash} ${Object.entries(element).map(onOneLine).join(" · ")}`];
  });
}

function onOneLine([name, value]: [string, JsonValue]): string {
  return `**${escaped(name) || "–"}:** ${plain(value)}`;
}

function isNested(value: JsonValue, depth: number): value is JsonValue[] | Record<string, JsonValue> {
  return typeof value === "object" && value !== null && Object.keys(value).length > 0 && depth < MAX_DEPTH;
}

function plain(value: JsonValue): string {
  if (value === null || value === "") return "–";
  if (typeof value !== "object") return address(String(value));
  return Object.keys(value).length === 0 ? "–" : code(JSON.stringify(value));
}

/** A URL as an autolink, everything else as text. */
export function address(text: string): string {
  return /^https?:\/\/[^\s<>`\\]+$/.test(text) ? `<${text}>` : escaped(text) || "–";
}

/** A code span whose fence is longer than any in the text. */
function code(content: string): string {
  let fence = "`";
  for (const [run] of content.matchAll(/`+/g)) if (run.length >= fence.length) fence = `${run}\``;
  return `${fence} ${tidy(content)} ${fence}`;
}
