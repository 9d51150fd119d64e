/** URLs in the items of earlier steps. */
import type { JsonValue } from "../domain/lane/queue-item.ts";
import { fetchUrl } from "../domain/text/url.ts";
import { addressOf } from "./items/item-keys.ts";
import type { Item, StepContext } from "./step-kind.ts";

export interface Address {
  /** The URL to fetch; null: it is not a URL. */
  url: string | null;
  /** As written in the item. */
  text: string;
  /** Its item; of each list on the path to the URL only the entry that contains it. */
  item: Item;
}

export const FIELD_SCHEMA: JsonValue = {
  type: "string",
  minLength: 1,
  maxLength: 500,
  description: "Path of the URL, or of a list of URLs, in each incoming item, such as url or data.image.",
};

export const ADDRESS_SCHEMA: JsonValue = { type: "string", minLength: 1, maxLength: 8192 };

/** The URLs of the params, or those in the inputs, in order and with repetitions. */
export async function* addressesFor(
  context: Pick<StepContext, "inputs">,
  urls: readonly string[] | undefined,
  field: string,
): AsyncGenerator<Address> {
  if (urls !== undefined) {
    for (const text of urls) yield { url: httpUrl(text), text, item: {} };
    return;
  }
  const path = field.split(".");
  for await (const item of context.inputs())
    for (const { text, within } of textsAt(item as JsonValue, path))
      yield { url: httpUrl(text, addressOf(item)), text, item: within as Item };
}

/** Drops repeated URLs. */
export async function* distinct(addresses: AsyncIterable<Address>): AsyncGenerator<Address> {
  const seen = new Set<string>();
  for await (const address of addresses) {
    const name = address.url ?? address.text;
    if (seen.has(name)) continue;
    seen.add(name);
    yield address;
  }
}

/** A relative URL is resolved against the page it was found on. */
function httpUrl(text: string, base: string | null = null): string | null {
  const url = fetchUrl(text) ?? (base === null ? null : fetchUrl(text, base));
  return url !== null && /^https?:/.test(url) && url.length <= 8192 ? url : null;
}

/**
 * Each text with its surrounding item, but without the other entries of its lists: with them, a thousand texts would be
 * repeated for each.
 */
function* textsAt(
  value: JsonValue | undefined,
  path: readonly string[],
  depth = 0,
): Generator<{ text: string; within: JsonValue }> {
  if (Array.isArray(value)) {
    for (const entry of value) yield* textsAt(entry, path, depth);
    return;
  }
  const key = path[depth];
  if (key === undefined) {
    if (typeof value === "string" && value !== "") yield { text: value, within: value };
    return;
  }
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return;
  for (const { text, within } of textsAt(value[key], path, depth + 1))
    yield { text, within: { ...value, [key]: within } };
}
