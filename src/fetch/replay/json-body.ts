import { hasTooManyValues } from "../../domain/text/json-size.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";

/** Anti-hijacking prefixes of some JSON APIs. */
const GUARD = /^\s*(?:\)\]\}'?,?|while\s*\(1\);|for\s*\(;;\);)\s*\n?/;

/** Undefined: not JSON, or too many values. */
export function readJson(text: string): JsonValue | undefined {
  if (hasTooManyValues(text)) return undefined;
  try {
    return JSON.parse(text.replace(/^\uFEFF/, "").replace(GUARD, "")) as JsonValue;
  } catch {
    return undefined;
  }
}

export function isObject(value: JsonValue | undefined): value is Record<string, JsonValue> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
