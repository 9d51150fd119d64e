/** File names in a dataset: safe on every file system, and descriptive. */
import { fileEnding } from "../../domain/page/file-kinds.ts";
import { contentTypeOf, usualEnding } from "../../domain/page/file-magic.ts";
import { factsOf, mediaTypeOf } from "./item-keys.ts";
import { urlOf } from "./item-values.ts";
import type { Item } from "../step-kind.ts";

const LONGEST_BYTES = 80;
const WITHOUT_LABEL = "unlabelled";
/** Windows reserves these for devices, with any extension. */
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
  // A shortened name may end in a dot, which some file systems drop.
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
 * Every label has its own folder, even if two labels differ only in characters that a folder name cannot contain; no
 * folder has the name of a file beside the folders.
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

/** Besides those identified by their magic bytes. */
const ENDINGS: Readonly<Record<string, string>> = {
  "application/json": "json",
  "application/zip": "zip",
  "image/x-icon": "ico",
  "text/csv": "csv",
  "text/plain": "txt",
};

/** File extension by type: as decoded, by magic bytes, by content type, or by URL, in this order. */
export function endingOf(item: Item, head: Uint8Array): string {
  const format = factsOf(item)?.["format"];
  if (typeof format === "string" && /^[a-z0-9]{1,8}$/.test(format)) return usualEnding(`image/${format}`) ?? format;
  const found = contentTypeOf(head);
  const declared = mediaTypeOf(item) ?? "";
  const ofType = (type: string) => usualEnding(type) ?? ENDINGS[type] ?? null;
  const byContent = found === null ? null : ofType(found);
  return byContent ?? ofType(declared) ?? fileEnding(urlOf(item)?.pathname ?? "") ?? "bin";
}
