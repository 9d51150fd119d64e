/** What items say of their pictures, and what their files say when nobody has looked yet. */
import type { JsonValue } from "../domain/queue-item.ts";
import { endingLies } from "../domain/file-magic.ts";
import type { ImageFacts } from "../images/facts.ts";
import type { ImageInspector } from "../images/inspector.ts";
import type { Item, StepContext } from "./step-kind.ts";

/** So many files are looked at before the next items are read. */
export const BATCH = 128;

export async function* inBatches<T>(list: AsyncIterable<T>, size: number): AsyncGenerator<T[]> {
  let batch: T[] = [];
  for await (const entry of list) {
    batch.push(entry);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** Of each item with a file, by the file's hash. The same file is looked at once. */
export async function lookAt(
  context: Pick<StepContext, "files" | "signal">,
  inspector: ImageInspector,
  items: readonly Item[],
): Promise<Map<string, ImageFacts>> {
  const hashes = [...new Set(items.flatMap((item) => fileOf(context, item) ?? []))];
  const paths = await Promise.all(hashes.map((hash) => context.files.pathOf(hash)));
  const facts = await inspector.inspect(paths, context.signal);
  return new Map(hashes.flatMap((hash, at) => (facts[at] === undefined ? [] : [[hash, facts[at]]])));
}

/** The hash of the item's file, if it is there. */
export function fileOf({ files }: Pick<StepContext, "files">, { hash }: Item): string | null {
  return hash !== undefined && files.has(hash) ? hash : null;
}

/** As they stand in an item, under `image`. */
export function asItemFacts(facts: ImageFacts, wrongExtension: boolean): Record<string, JsonValue> {
  const { format, width, height, pages, animated, blank, damaged, problem, detail } = facts;
  return {
    format,
    width,
    height,
    aspect: width === null || height === null ? null : Math.round((width / height) * 1000) / 1000,
    pages,
    animated,
    blank,
    damaged,
    phash: facts.hash,
    wrong_extension: wrongExtension,
    ...(problem === null ? {} : { problem }),
    ...(detail === null ? {} : { detail }),
  };
}

/** Whether its name claims to be of another type. */
export function hasWrongExtension({ name, url }: Item, contentType: string | null): boolean {
  const path = name ?? (url === undefined ? "" : (URL.parse(url)?.pathname ?? ""));
  const ending = /\.([a-z0-9]{1,5})$/i.exec(path)?.[1] ?? null;
  return endingLies(ending?.toLowerCase() ?? null, contentType);
}
