/** Reads values of items by path: `url`, `fields.price`, `image.width`. */
import { addressOf } from "./item-keys.ts";
import type { Item } from "../step-kind.ts";
import { valueAt } from "../../domain/text/value-at.ts";
import { decodePercent } from "../../domain/text/url.ts";

export const PATH_SCHEMA = { type: "string", minLength: 1, maxLength: 500 } as const;

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
