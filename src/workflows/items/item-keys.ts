/**
 * The item keys that steps rely on. Items carry foreign data, which may use the same names for something else: a key
 * counts only if its value has the right type, and otherwise the item passes unchanged as one without it. References to
 * stored files come from downloads and steps only, never from a page.
 */
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import type { Item } from "../step-kind.ts";

/** The file of the item; null: none. */
export function hashOf({ hash }: Item): string | null {
  return typeof hash === "string" && /^[0-9a-f]{64}$/.test(hash) ? hash : null;
}

export function addressOf({ url }: Item): string | null {
  return typeof url === "string" ? url : null;
}

export function nameOf({ name }: Item): string | null {
  return typeof name === "string" && name !== "" ? name : null;
}

/** Numbers are valid labels. */
export function labelOf(item: Item): string | null {
  const label: JsonValue | undefined = item.label;
  if (typeof label === "number" || typeof label === "boolean") return String(label);
  return typeof label === "string" && label.trim() !== "" ? label : null;
}

export function bytesOf({ bytes }: Item): number | null {
  return typeof bytes === "number" ? bytes : null;
}

/** As the server sent it. */
export function contentTypeSaid({ content_type: type }: Item): string | null {
  return typeof type === "string" && type !== "" ? type : null;
}

/** Without parameters, in lower case. */
export function mediaTypeOf(item: Item): string | null {
  const media = contentTypeSaid(item)?.split(";")[0]?.trim().toLowerCase();
  return media === undefined || media === "" ? null : media;
}

/** What `validate` found out about the image; null: not checked. */
export function factsOf({ image }: Item): Readonly<Record<string, JsonValue>> | null {
  if (typeof image !== "object" || image === null || Array.isArray(image)) return null;
  return Object.hasOwn(image, "phash") || Object.hasOwn(image, "problem") ? image : null;
}

/** Why the page of the item could not be read; null: it was read. */
export function notRead({ not_read: why }: Item): string | null {
  return typeof why === "string" ? why : null;
}

const ABOUT_FILES = ["hash", "bytes", "content_type", "artifact_id", "not_read"] as const;

/** A record of a page as an item. Keys reserved for stored files are renamed to `scraped_…`. */
export function recordItem(url: string, data: Readonly<Record<string, JsonValue>>): Item {
  const item: Item = { ...data, url: typeof data["url"] === "string" ? data["url"] : url };
  const taken: string[] = ABOUT_FILES.filter((key) => Object.hasOwn(data, key));
  if (factsOf(item) !== null) taken.push("image");
  if (Object.hasOwn(data, "url") && typeof data["url"] !== "string") taken.push("url");
  for (const key of taken) {
    let free = `scraped_${key}`;
    while (Object.hasOwn(item, free)) free = `scraped_${free}`;
    item[free] = data[key];
    if (key !== "url") delete item[key];
  }
  return item;
}
