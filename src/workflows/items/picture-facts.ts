/** Facts about images: from the items, or from their files if not checked yet. */
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { isOrbError } from "../../base/errors.ts";
import { endingLies } from "../../domain/page/file-magic.ts";
import type { ImageFacts } from "../../images/facts.ts";
import type { ImageInspector } from "../../images/inspector.ts";
import { hashOf, nameOf } from "./item-keys.ts";
import { urlOf } from "./item-values.ts";
import type { Item, StepContext, StepFiles } from "../step-kind.ts";

/** Number of files inspected before the next items are read. */
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

/** Attempts for a file that is moved between locating and inspecting it. */
const MOST_LOOKS = 5;

/**
 * For each item with a file, by the file's hash. The same file is inspected once; one that was moved to the archive
 * tier before is located again.
 */
export async function lookAt(
  context: Pick<StepContext, "files" | "signal">,
  inspector: ImageInspector,
  items: readonly Item[],
): Promise<Map<string, ImageFacts>> {
  const { files, signal } = context;
  const seen = new Map<string, ImageFacts>();
  const hashes = await Promise.all(items.map((item) => fileOf(context, item)));
  let unseen = [...new Set(hashes.filter((hash) => hash !== null))];
  for (let looks = 0; unseen.length > 0 && looks < MOST_LOOKS; looks += 1) {
    const located = (await Promise.all(unseen.map((hash) => locate(files, hash)))).filter((one) => one !== null);
    const paths = located.map(({ path }) => path);
    for (const [at, facts] of (await inspector.inspect(paths, signal)).entries()) seen.set(located[at]!.hash, facts);
    const isSeen = (hash: string) => (seen.get(hash) ?? { problem: "missing" }).problem !== "missing";
    const left = unseen.filter((hash) => !isSeen(hash));
    const there = await Promise.all(left.map((hash) => files.has(hash)));
    unseen = left.filter((_, at) => there[at]);
  }
  return seen;
}

/** Null: deleted just now. */
async function locate(files: StepFiles, hash: string): Promise<{ hash: string; path: string } | null> {
  try {
    return { hash, path: await files.pathOf(hash) };
  } catch (error) {
    if (isOrbError(error, "not_found")) return null;
    throw error;
  }
}

/** The hash of the item's file, if it exists. */
export async function fileOf({ files }: Pick<StepContext, "files">, item: Item): Promise<string | null> {
  const hash = hashOf(item);
  return hash !== null && (await files.has(hash)) ? hash : null;
}

/** As in an item, under `image`. */
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

/** Whether its file name claims another type. */
export function hasWrongExtension(item: Item, contentType: string | null): boolean {
  const path = nameOf(item) ?? urlOf(item)?.pathname ?? "";
  const ending = /\.([a-z0-9]{1,5})$/i.exec(path)?.[1] ?? null;
  return endingLies(ending?.toLowerCase() ?? null, contentType);
}
