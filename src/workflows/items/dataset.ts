/** The items of a dataset: those that meet its conditions, each with its split and file name. */
import { MAGIC_BYTES } from "../../domain/page/file-magic.ts";
import { type Conditions, compileConditions } from "../conditions.ts";
import { endingOf, LabelFolders } from "./dataset-names.ts";
import { factsOf, hashOf, labelOf } from "./item-keys.ts";
import { textAt } from "./item-values.ts";
import { fileOf } from "./picture-facts.ts";
import { type Ratios, type Splitter, splitByDraw, splitByLabel } from "./splits.ts";
import type { Item, StepContext } from "../step-kind.ts";

export interface DatasetParams {
  where?: Conditions;
  unique?: string;
  split?: Ratios;
  seed?: string | number;
  stratify?: boolean;
  images?: boolean;
}

export interface DatasetEntry {
  item: Item;
  split: string | null;
  /** Path within the archive; null: the dataset is only a table. */
  file: string | null;
}

/** Every pass yields the same. Holds only what keeps names and splits distinct. */
export interface Dataset {
  entries(): AsyncIterable<DatasetEntry>;
  /** Items whose file is missing, after a full pass. */
  missing: number;
}

/** `beside`: names in the archive next to the folders. */
export async function openDataset(
  context: StepContext,
  params: DatasetParams,
  beside: readonly string[],
): Promise<Dataset> {
  const { split, seed = 0, stratify = false, images = false } = params;
  const meets = compileConditions(params.where ?? {}, "where");
  const presence = new Presence();
  const chosen = async function* () {
    const seen = new Set<string>();
    let index = 0;
    for await (const item of context.inputs()) {
      context.signal.throwIfAborted();
      if (!meets(item) || isKnown(item, params.unique, seen)) continue;
      if (!images || presence.isThere(index, (await fileOf(context, item)) !== null)) yield item;
      index += 1;
    }
  };
  let splitter: Splitter | null = null;
  if (split !== undefined)
    splitter = stratify ? await splitByLabel(split, String(seed), chosen()) : splitByDraw(split, String(seed));
  return {
    get missing() {
      return presence.missing;
    },
    async *entries() {
      const names = new FileNames(beside);
      for await (const item of chosen()) {
        const part = splitter?.splitOf(item) ?? null;
        const file = images ? names.next(item, part, await headOf(context, item)) : null;
        yield { item, split: part, file };
      }
    },
  };
}

/**
 * Which files existed in the first pass over the dataset. Later passes derive the names of files and parts from it: if
 * that changes, the whole dataset is built again.
 */
class Presence {
  readonly #missing = new Set<number>();
  #known = 0;

  get missing(): number {
    return this.#missing.size;
  }

  isThere(index: number, there: boolean): boolean {
    if (index >= this.#known) {
      this.#known = index + 1;
      if (!there) this.#missing.add(index);
    } else if (this.#missing.has(index) === there)
      throw new Error(`a file was ${there ? "stored" : "removed"} while the dataset was built; it is built again`);
    return there;
  }
}

/** Items without a value are never duplicates. */
function isKnown(item: Item, field: string | undefined, seen: Set<string>): boolean {
  const value = field === undefined ? null : textAt(item, field);
  if (value === null) return false;
  if (seen.has(value)) return true;
  seen.add(value);
  return false;
}

/** `train/cat/000001.jpg`: numbered within each folder, in the order of the items. */
class FileNames {
  readonly #folders: LabelFolders;
  readonly #counts = new Map<string, number>();

  constructor(beside: readonly string[]) {
    this.#folders = new LabelFolders(beside);
  }

  next(item: Item, split: string | null, head: Uint8Array): string {
    const label = this.#folders.folderOf(labelOf(item));
    const folder = split === null ? label : `${split}/${label}`;
    const number = (this.#counts.get(folder) ?? 0) + 1;
    this.#counts.set(folder, number);
    return `${folder}/${String(number).padStart(6, "0")}.${endingOf(item, head)}`;
  }
}

/** Read only if the file was not decoded. */
async function headOf({ files }: StepContext, item: Item): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const hash = hashOf(item);
  if (hash === null || typeof factsOf(item)?.["format"] === "string") return Buffer.alloc(0);
  for await (const chunk of files.open(hash)) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= MAGIC_BYTES) break;
  }
  return Buffer.concat(chunks).subarray(0, MAGIC_BYTES);
}
