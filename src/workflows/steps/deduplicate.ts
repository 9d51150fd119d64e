import { type Candidate, findNearDuplicates, type NearDuplicate } from "../../images/duplicates.ts";
import type { ImageInspector } from "../../images/inspector.ts";
import { isHash, MOST_DISTANCE } from "../../images/near.ts";
import type { DeduplicateParams, FileDuplicateParams } from "../built-in-kinds.ts";
import { bytesOf, factsOf, hashOf } from "../items/item-keys.ts";
import { untilAborted, writeItems } from "../items/items-file.ts";
import { BATCH, inBatches, lookAt } from "../items/picture-facts.ts";
import type { Item, StepContext, StepEnd, StepKind } from "../step-kind.ts";
import { deduplicateTexts, faultsOfTextParams, TEXT_SCHEMAS } from "../texts/deduplicate-texts.ts";

/** Covers resized and recompressed copies, and hardly ever other images: see images/perceptual-hash. */
const DEFAULT_DISTANCE = 8;

/** Items by file: `unique[i]` is the number of item `i`'s file, in the order of first occurrence. */
interface Census {
  unique: number[];
  files: Candidate[];
}

/** The verdict on one item: kept, or a copy of the file with this number. */
interface Copy {
  of: number;
  match: "exact" | "near";
  distance: number;
}

/** Forwards each file, each image and each text once. */
export function deduplicateStep(inspector: ImageInspector): StepKind<DeduplicateParams> {
  return {
    kind: "deduplicate",
    about: "Passes on each file or text once; of similar images or texts, only one.",
    params: {
      type: "object",
      properties: {
        ...TEXT_SCHEMAS,
        distance: {
          type: ["integer", "null"],
          minimum: 0,
          maximum: MOST_DISTANCE,
          description: `How many of 64 hash bits may differ between duplicate images, or texts with simhash; 0: only exact copies. Default: ${DEFAULT_DISTANCE}.`,
        },
        keep: {
          anyOf: [
            { enum: ["largest", "first", "longest", "newest", null] },
            { type: "string", pattern: "^(highest|lowest):.{1,500}$" },
          ],
          description:
            "Which of several duplicates to keep. Images: largest (default) or first. Texts: first (default), longest, newest, highest:PATH or lowest:PATH.",
        },
      },
      additionalProperties: false,
    },
    check: faultsOfTextParams,
    run: (context, params) =>
      typeof params.text === "string"
        ? deduplicateTexts(context, { ...params, text: params.text })
        : deduplicateFiles(context, inspector, params),
  };
}

async function deduplicateFiles(
  context: StepContext,
  inspector: ImageInspector,
  params: FileDuplicateParams,
): Promise<StepEnd> {
  const distance = params.distance ?? DEFAULT_DISTANCE;
  const keep = params.keep === "first" ? "first" : "largest";
  const census = await countFiles(context, inspector, distance > 0);
  const { signal, clock } = context;
  const near = distance === 0 ? [] : await findNearDuplicates(census.files, { distance, keep, clock, signal });
  const copies = copiesOf(census.unique, near);
  const exact = copies.filter((copy) => copy?.match === "exact").length;
  const removed = copies.filter((copy) => copy !== null).length;
  const { file } = await writeItems(context.files, "removed.jsonl", removedItems(context, census, copies));
  return {
    kind: "done",
    output: { kept: copies.length - removed, removed, exact, near: removed - exact },
    items: keptItems(context, copies),
    files: file === null ? [] : [file],
  };
}

async function countFiles(context: StepContext, inspector: ImageInspector, pictures: boolean): Promise<Census> {
  const [unique, files]: [number[], Candidate[]] = [[], []];
  const numbers = new Map<string, number>();
  for await (const items of inBatches(untilAborted(context.inputs(), context.signal), BATCH)) {
    const unknown = items.filter((item) => pictures && !numbers.has(hashOf(item) ?? "") && factsOf(item) === null);
    const seen = await lookAt(context, inspector, unknown);
    for (const item of items) {
      // An item without a file has no duplicates.
      const hash = hashOf(item);
      let number = hash === null ? undefined : numbers.get(hash);
      if (number === undefined) {
        number = files.length;
        files.push(await candidateOf(context, item, seen));
        if (hash !== null) numbers.set(hash, number);
      }
      unique.push(number);
    }
    context.progress(unique.length, null);
  }
  return { unique, files };
}

async function candidateOf(
  context: StepContext,
  item: Item,
  seen: ReadonlyMap<string, { hash: string | null; width: number | null; height: number | null }>,
): Promise<Candidate> {
  const looked = seen.get(hashOf(item) ?? "");
  const said = factsOf(item);
  const [width, height] = [looked?.width ?? said?.["width"], looked?.height ?? said?.["height"]];
  const hash = looked?.hash ?? said?.["phash"];
  const bytes = bytesOf(item) ?? (await sizeOf(context, item));
  return {
    hash: isHash(hash) ? hash : null,
    pixels: typeof width === "number" && typeof height === "number" ? width * height : 0,
    bytes,
  };
}

async function sizeOf({ files }: StepContext, item: Item): Promise<number> {
  const hash = hashOf(item);
  return hash === null ? 0 : ((await files.sizeOf(hash)) ?? 0);
}

/**
 * For each item the original it is a copy of; null: it is kept. A copy of a removed file counts as a copy of that
 * file's original.
 */
function copiesOf(unique: readonly number[], near: readonly (NearDuplicate | null)[]): (Copy | null)[] {
  const seen = new Set<number>();
  return unique.map((number) => {
    const again = seen.has(number);
    seen.add(number);
    const like = near[number] ?? null;
    if (!again && like === null) return null;
    return { of: like?.of ?? number, match: again ? "exact" : "near", distance: like?.distance ?? 0 };
  });
}

async function* keptItems(context: StepContext, copies: readonly (Copy | null)[]): AsyncGenerator<Item> {
  let at = 0;
  for await (const item of context.inputs()) {
    if (copies[at] === null) yield item;
    at += 1;
  }
}

/** Each with the item that replaces it. */
async function* removedItems(
  context: StepContext,
  { unique }: Census,
  copies: readonly (Copy | null)[],
): AsyncGenerator<Item> {
  const wanted = new Set(copies.flatMap((copy) => (copy === null ? [] : [copy.of])));
  const kept = new Map<number, Item>();
  let at = 0;
  for await (const { hash, url, name } of untilAborted(context.inputs(), context.signal)) {
    const number = unique[at] ?? -1;
    if (copies[at] === null && wanted.has(number))
      kept.set(number, {
        ...(name === undefined ? {} : { name }),
        ...(url === undefined ? {} : { url }),
        ...(hash === undefined ? {} : { hash }),
      });
    at += 1;
  }
  at = 0;
  for await (const item of untilAborted(context.inputs(), context.signal)) {
    const copy = copies[at] ?? null;
    at += 1;
    if (copy === null) continue;
    const { of, match, distance } = copy;
    yield { ...item, duplicate_of: { ...kept.get(of), match, distance } };
  }
}
