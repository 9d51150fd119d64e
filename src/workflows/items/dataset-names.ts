/** Names of files in a dataset: safe on every file system, and telling. */
import { fileEnding } from "../../domain/page/file-kinds.ts";
import { contentTypeOf, usualEnding } from "../../domain/page/file-magic.ts";
import { factsOf, mediaTypeOf } from "./item-keys.ts";
import { urlOf } from "./item-values.ts";
import type { Item } from "../step-kind.ts";

const LONGEST_BYTES = 80;
const WITHOUT_LABEL = "unlabelled";
/** Windows takes these for devices, whatever ending they have. */
const DEVICE = /^(?:con|prn|aux|nul|(?:com|lpt)[\d¹²³])(?=\.|$)/i;

export function isDevice(name: string): boolean {
  return DEVICE.test(name);
}

/** Letters and digits of all scripts, `_`, `-` and dots within; everything else becomes a dash. */
export function safeName(text: string): string {
  const whole = text
    .normalize("NFC")
    .replace(/[^\p{L}\p{N}\p{M}_.-]+/gu, "-")
    .replace(/\.{2,}/g, ".")
    .replace(/^[-.]+/, "");
  // What is cut may end in a dot, which some file systems drop.
  return cut(whole)
    .replace(/[-.]+$/, "")
    .replace(DEVICE, "$&_");
}

function cut(text: string): string {
  let bytes = 0;
  let end = 0;
  for (const letter of text) {
    bytes += Buffer.byteLength(letter);
    if (bytes > LONGEST_BYTES) break;
    end += letter.length;
  }
  return text.slice(0, end);
}

/**
 * Every label has a folder of its own, also when two differ only in what a folder's name cannot show; none is called as
 * what is beside the folders.
 */
export class LabelFolders {
  readonly #folders = new Map<string, string>();
  readonly #taken: Set<string>;

  constructor(beside: readonly string[]) {
    this.#taken = new Set(beside.map((name) => name.toLowerCase()));
  }

  folderOf(label: string | null): string {
    const name = label ?? "";
    const known = this.#folders.get(name);
    if (known !== undefined) return known;
    const base = safeName(label ?? WITHOUT_LABEL) || "label";
    let folder = base;
    for (let n = 2; this.#taken.has(folder.toLowerCase()); n += 1) folder = `${base}-${n}`;
    this.#taken.add(folder.toLowerCase());
    this.#folders.set(name, folder);
    return folder;
  }
}

/** Beside those that first bytes tell. */
const ENDINGS: Readonly<Record<string, string>> = {
  "application/json": "json",
  "application/zip": "zip",
  "image/x-icon": "ico",
  "text/csv": "csv",
  "text/plain": "txt",
};

/**
 * The ending that a file has by what it is: as it was decoded, by its first bytes, as its server said, or as its address
 * says, in this order.
 */
export function endingOf(item: Item, head: Uint8Array): string {
  const format = factsOf(item)?.["format"];
  if (typeof format === "string" && /^[a-z0-9]{1,8}$/.test(format)) return usualEnding(`image/${format}`) ?? format;
  const found = contentTypeOf(head);
  const said = mediaTypeOf(item) ?? "";
  const ofType = (type: string) => usualEnding(type) ?? ENDINGS[type] ?? null;
  const byContent = found === null ? null : ofType(found);
  return byContent ?? ofType(said) ?? fileEnding(urlOf(item)?.pathname ?? "") ?? "bin";
}
