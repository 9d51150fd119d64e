/** Reads values of items by path: `url`, `fields.price`, `image.width`. */
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { addressOf } from "./item-keys.ts";
import type { Item } from "../step-kind.ts";
import { decodePercent } from "../../domain/text/url.ts";

export const PATH_SCHEMA = { type: "string", minLength: 1, maxLength: 500 } as const;

/** Undefined: no value. A numeric segment is a list index. */
export function valueAt(item: Item, path: string): JsonValue | undefined {
  let value: JsonValue | undefined = item as JsonValue;
  for (const key of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, JsonValue>)[key];
  }
  return value;
}

/** A text, or a number as text; null for empty texts and all else. */
export function textAt(item: Item, path: string): string | null {
  const value = valueAt(item, path);
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return typeof value === "string" && value.trim() !== "" ? value : null;
}

export function urlOf(item: Item): URL | null {
  const address = addressOf(item);
  return address === null ? null : URL.parse(address);
}

/** Decoded folders of a URL's path; the last segment is the file. */
export function foldersOf(url: URL): string[] {
  return url.pathname
    .split("/")
    .slice(0, -1)
    .filter((part) => part !== "")
    .map(decodePercent);
}
