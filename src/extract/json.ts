/** JSON from strangers. */
import { hasTooManyValues } from "../domain/text/json-size.ts";
import type { JsonValue } from "../domain/lane/queue-item.ts";

/** Values nested deeper are cut off: what is stored is written with JSON.stringify, which recurses. */
export const MAX_JSON_DEPTH = 100;

/** More values than a page may have are not read: an array beyond it could take a thread's process along. */
export function parseJson(text: string): JsonValue | undefined {
  if (hasTooManyValues(text)) return undefined;
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
