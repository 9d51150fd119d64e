/** JSON from strangers. */
import type { JsonValue } from "../domain/queue-item.ts";

/** Values nested deeper are cut off: what is stored is written with JSON.stringify, which recurses. */
export const MAX_JSON_DEPTH = 100;

/**
 * A few bytes of JSON become some sixty in memory, in one step that nothing can interrupt; an array beyond this would be
 * a piece too large for a thread that is near its limit, and take the process along.
 */
const MAX_VALUES = 1_500_000;

export function parseJson(text: string): JsonValue | undefined {
  if (text.length > MAX_VALUES && countValues(text) > MAX_VALUES) return undefined;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** A JSON body; the prefixes that keep browsers from running it as a script are skipped. */
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

/** Somewhat too many when texts contain commas and brackets. */
function countValues(text: string): number {
  let count = 1;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x2c || code === 0x5b || code === 0x7b) count += 1;
  }
  return count;
}
