/** Parsing of untrusted JSON. */
import { hasTooManyValues } from "../domain/text/json-size.ts";
import type { JsonValue } from "../domain/lane/queue-item.ts";

/** Deeper values are cut off: JSON.stringify recurses when records are stored. */
export const MAX_JSON_DEPTH = 100;

/** Undefined: invalid, or too many values, which could crash the process of a thread. */
export function parseJson(text: string): JsonValue | undefined {
  if (hasTooManyValues(text)) return undefined;
  try {
    return (LONG_INTEGER.test(text) ? JSON.parse(text, exactInteger) : JSON.parse(text)) as JsonValue;
  } catch {
    return undefined;
  }
}

/** May be in a string, too. */
const LONG_INTEGER = /\d{16}/;

/** Integers beyond 2⁵³, such as ids, stay exact as text: as numbers they would lose their last digits. */
function exactInteger(this: unknown, _key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  const source = context?.source ?? "";
  if (!/^-?\d+$/.test(source)) return value;
  return !Number.isFinite(value) || BigInt(source) !== BigInt(value) ? source : value;
}

/** A JSON body, without anti-hijacking prefixes. */
export function parseJsonBody(text: string): JsonValue | undefined {
  return parseJson(text.replace(/^\uFEFF/, "").replace(/^\s*(?:\)\]\}'?,?|while\s*\(1\);|for\s*\(;;\);)\s*\n?/, ""));
}

export function depthOf(value: JsonValue, limit = MAX_JSON_DEPTH): number {
  if (typeof value !== "object" || value === null) return 0;
  if (limit === 0) return 1;
  let deepest = 0;
  for (const item of Array.isArray(value) ? value : Object.values(value)) {
    deepest = Math.max(deepest, depthOf(item, limit - 1));
    if (deepest >= limit) break;
  }
  return deepest + 1;
}
