/** Renders an answer as text: lines of names and values, long texts verbatim, without nulls. */
import { isObject } from "../domain/text/input-reader.ts";

export function render(answer: Readonly<Record<string, unknown>>): string {
  const parts = Object.entries(answer).map(([name, value]) => {
    if (name === "records" && Array.isArray(value) && value.length > 0)
      return `${value.map((record, at) => recordText(record, at)).join("")}\n`;
    return lineOf(name, value, "");
  });
  return parts.join("").trimEnd();
}

/** Records are separated, and their texts are not indented: they are most of the answer. */
function recordText(record: unknown, at: number): string {
  const fields = Object.entries(record as Record<string, unknown>);
  return `\n[record ${at + 1}]\n${fields.map(([name, value]) => lineOf(name, value, "")).join("")}`;
}

function lineOf(name: string, value: unknown, indent: string): string {
  if (value === null || value === undefined || (Array.isArray(value) && value.length === 0)) return "";
  if (typeof value === "string")
    return value.includes("\n") ? `${indent}${name}:\n${value.trimEnd()}\n` : `${indent}${name}: ${value}\n`;
  if (typeof value !== "object") return `${indent}${name}: ${String(value)}\n`;
  if (isNext(value))
    return `${indent}${name}: call ${value.tool} with ${JSON.stringify(value.arguments)}: ${value.why}\n`;
  if (Array.isArray(value) && value.every(isObject)) {
    return `${indent}${name}:\n${value.map((entry) => entryText(entry, `${indent}  `)).join("")}`;
  }
  const inline = JSON.stringify(value);
  if (Array.isArray(value) && value.every(isText) && inline.length > 100)
    return `${indent}${name}:\n${value.map((text) => `${indent}  - ${text}\n`).join("")}`;
  if (Array.isArray(value) || inline.length <= 200) return `${indent}${name}: ${inline}\n`;
  return `${indent}${name}:\n${Object.entries(value)
    .map(([key, inner]) => lineOf(key, inner, `${indent}  `))
    .join("")}`;
}

function entryText(entry: Record<string, unknown>, indent: string): string {
  const lines = Object.entries(entry)
    .map(([name, value]) => lineOf(name, value, `${indent}  `))
    .join("");
  return lines === "" ? "" : `${indent}- ${lines.slice(indent.length + 2)}`;
}

const isText = (value: unknown) => typeof value === "string" && !value.includes("\n");

function isNext(value: object): value is { tool: string; arguments: unknown; why: string } {
  return "tool" in value && "arguments" in value && "why" in value;
}
