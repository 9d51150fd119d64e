/** Addresses in what comes from earlier steps. */
import type { JsonValue } from "../domain/queue-item.ts";
import { fetchUrl } from "../domain/url.ts";
import type { Item, StepContext } from "./step-kind.ts";

export interface Address {
  /** As it will be fetched; null: what stands there is no address. */
  url: string | null;
  /** As it was written. */
  given: string;
  /** What came with it. */
  item: Item;
}

export const FIELD_SCHEMA: JsonValue = {
  type: "string",
  minLength: 1,
  maxLength: 500,
  description: "Where the address, or a list of them, stands in each item that comes in, such as url or data.image.",
};

export const ADDRESS_SCHEMA: JsonValue = { type: "string", minLength: 1, maxLength: 8192 };

/** The addresses that are named, or those in what came in, in order and with repetitions. */
export async function* addressesFor(
  context: Pick<StepContext, "inputs">,
  urls: readonly string[] | undefined,
  field: string,
): AsyncGenerator<Address> {
  if (urls !== undefined) {
    for (const given of urls) yield { url: httpUrl(given), given, item: {} };
    return;
  }
  for await (const item of context.inputs())
    for (const given of textsAt(item as JsonValue, field.split(".")))
      yield { url: httpUrl(given, item.url), given, item };
}

/** Of the same address only the first. */
export async function* distinct(addresses: AsyncIterable<Address>): AsyncGenerator<Address> {
  const seen = new Set<string>();
  for await (const address of addresses) {
    const name = address.url ?? address.given;
    if (seen.has(name)) continue;
    seen.add(name);
    yield address;
  }
}

/** A relative address is of the page it was found on. */
function httpUrl(given: string, base?: string): string | null {
  const url = fetchUrl(given) ?? (base === undefined ? null : fetchUrl(given, base));
  return url !== null && /^https?:/.test(url) && url.length <= 8192 ? url : null;
}

function* textsAt(value: JsonValue | undefined, path: readonly string[]): Generator<string> {
  if (Array.isArray(value)) {
    for (const entry of value) yield* textsAt(entry, path);
    return;
  }
  const [key, ...rest] = path;
  if (key === undefined) {
    if (typeof value === "string" && value !== "") yield value;
    return;
  }
  if (typeof value === "object" && value !== null && Object.hasOwn(value, key)) yield* textsAt(value[key], rest);
}
