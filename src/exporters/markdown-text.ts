/** Scraped text as Markdown that shows it and nothing else. */
import type { JsonValue } from "../domain/lane/queue-item.ts";

/** One line in which nothing means anything: for headings, list items and lines of text. */
export function escaped(content: string): string {
  return tidy(content).replace(/[\\`*_[\]<>#|~&!$^]/g, "\\$&");
}

/** Line ends and control characters become spaces: they would end the line, or are not allowed at all. */
function tidy(content: string): string {
  // oxlint-disable-next-line no-control-regex
  return content.replace(/[\s\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ").trim();
}

const LINE_END = /\r\n|[\r\n\u2028\u2029]/;

/** Text line by line; signs and numbers that would begin a list or underline a heading are escaped. */
export function paragraphs(text: string): string {
  return text.split(LINE_END).map(lineOfText).join("\n").trim();
}

function lineOfText(line: string): string {
  return escaped(line).replace(/^(?:[-+=:]|\d{1,9}(?=[.)]))/, (start) =>
    /\d/.test(start) ? `${start}\\` : `\\${start}`,
  );
}

/** Deeper than anybody reads lists. */
const DEEPEST = 8;

/** Fields as a list, values that hold others as lists in it. */
export function fieldList(fields: readonly (readonly [string, JsonValue])[]): string {
  return fields.flatMap(([name, value]) => named(name, value, 0)).join("\n");
}

function named(name: string, value: JsonValue, depth: number): string[] {
  const label = `${"  ".repeat(depth)}- **${escaped(name) || "–"}:**`;
  return isNested(value, depth) ? [label, ...inside(value, depth + 1)] : [`${label} ${plain(value)}`];
}

function inside(value: JsonValue[] | Record<string, JsonValue>, depth: number): string[] {
  if (!Array.isArray(value)) return Object.entries(value).flatMap(([name, held]) => named(name, held, depth));
  return value.flatMap((element, index) => {
    const dash = `${"  ".repeat(depth)}-`;
    if (!isNested(element, depth)) return [`${dash} ${plain(element)}`];
    if (Array.isArray(element) || Object.values(element).some((held) => isNested(held, depth)))
      return [`${dash} **${index + 1}**`, ...inside(element, depth + 1)];
    return [`${dash} ${Object.entries(element).map(onOneLine).join(" · ")}`];
  });
}

function onOneLine([name, value]: [string, JsonValue]): string {
  return `**${escaped(name) || "–"}:** ${plain(value)}`;
}

function isNested(value: JsonValue, depth: number): value is JsonValue[] | Record<string, JsonValue> {
  return typeof value === "object" && value !== null && Object.keys(value).length > 0 && depth < DEEPEST;
}

function plain(value: JsonValue): string {
  if (value === null || value === "") return "–";
  if (typeof value !== "object") return address(String(value));
  return Object.keys(value).length === 0 ? "–" : code(JSON.stringify(value));
}

/** An address as a link, everything else as text. */
export function address(text: string): string {
  return /^https?:\/\/[^\s<>`\\]+$/.test(text) ? `<${text}>` : escaped(text) || "–";
}

/** A code span whose fence is longer than any in the text. */
function code(content: string): string {
  let fence = "`";
  for (const [run] of content.matchAll(/`+/g)) if (run.length >= fence.length) fence = `${run}\``;
  return `${fence} ${tidy(content)} ${fence}`;
}
