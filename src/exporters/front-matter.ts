/** YAML front matter that YAML 1.1 and 1.2 parsers read alike. */
import type { JsonValue } from "../domain/lane/queue-item.ts";

export type FrontMatter = readonly (readonly [name: string, value: JsonValue])[];

/**
 * Between two `---` lines. No line inside begins with a dash: lists are indented, strings are quoted and on one line.
 */
export function frontMatter(entries: FrontMatter): string {
  return `---\n${entries.map(([name, value]) => entry(name, value, "")).join("")}---\n`;
}

const MAX_SIMPLE_KEY = 1000;

function entry(name: string, value: JsonValue, indent: string): string {
  const text = keyOf(name);
  // YAML looks for the colon of a simple key within 1024 characters; a longer key needs the explicit `?` form.
  const key = text.length < MAX_SIMPLE_KEY ? `${indent}${text}:` : `${indent}? ${text}\n${indent}:`;
  if (!isFilled(value)) return `${key} ${scalar(value)}\n`;
  const inner = `${indent}  `;
  if (Array.isArray(value)) return `${key}\n${value.map((element) => item(element, inner)).join("")}`;
  return `${key}\n${entriesOf(value, inner)}`;
}

function item(value: JsonValue, indent: string): string {
  if (!isFilled(value)) return `${indent}- ${scalar(value)}\n`;
  const inner = `${indent}  `;
  const text = Array.isArray(value)
    ? value.map((element) => item(element, inner)).join("")
    : entriesOf(value as Record<string, JsonValue>, inner);
  // The content begins on the line of its dash.
  return `${indent}- ${text.slice(inner.length)}`;
}

function entriesOf(value: Record<string, JsonValue>, indent: string): string {
  return Object.entries(value)
    .map(([name, inside]) => entry(name, inside, indent))
    .join("");
}

function isFilled(value: JsonValue): value is JsonValue[] | Record<string, JsonValue> {
  return typeof value === "object" && value !== null && Object.keys(value).length > 0;
}

function scalar(value: JsonValue): string {
  if (typeof value === "string") return quoted(value);
  if (typeof value === "number") return numberText(value);
  return JSON.stringify(value);
}

/** Without a decimal point, `1e+21` is a string in YAML 1.1. */
function numberText(value: number): string {
  return String(value).replace(/^(-?\d+)e/, "$1.0e");
}

/** Unquoted, YAML 1.1 reads these as booleans or null. */
const NOT_A_NAME = /^(?:y|n|yes|no|on|off|true|false|null)$/i;

function keyOf(name: string): string {
  return /^[A-Za-z_][\w-]*$/.test(name) && !NOT_A_NAME.test(name) ? name : quoted(name);
}

/** Always quoted: whether `2024-05-01` or `no` is a string depends on the parser. JSON's escapes are valid YAML. */
function quoted(text: string): string {
  return JSON.stringify(text.toWellFormed()).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
