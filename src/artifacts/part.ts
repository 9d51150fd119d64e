import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { fileMode } from "../base/files/file-modes.ts";
import { onDisk } from "./disk.ts";
import type { Folder } from "./layout.ts";

/** Identifies the resource of a partial file, as its server described it. */
export interface PartOf {
  /** A name chosen by us, such as a task's id. */
  key: string;
  url: string;
  etag: string | null;
  lastModified: string | null;
  /** The size of the whole, when the server said so. */
  total: number | null;
}

export interface ResumablePart extends PartOf {
  /** How many bytes are there. The file itself says so: after a kill nothing else would be true. */
  offset: number;
}

/** Null when there is nothing to resume, or when the parts do not match (they are then removed). */
export function readPart(folder: Folder, key: string): ResumablePart | null {
  const sidecar = folder.sidecar(key);
  // The usual case, asked before every fetch: no part.
  if (!folder.knownParts.has(key)) return null;
  if (statSync(sidecar, { throwIfNoEntry: false }) === undefined) return null;
  const described = parseSidecar(readFileSync(sidecar, "utf8"));
  const offset = statSync(folder.part(key), { throwIfNoEntry: false })?.size ?? 0;
  if (described === null || offset === 0 || (described.total !== null && offset >= described.total)) {
    dropPart(folder, key);
    return null;
  }
  return { ...described, key, offset };
}

/** Written before the first byte of the part, so that no part is ever without its description. */
export function writeSidecar(folder: Folder, part: PartOf): void {
  const { url, etag, lastModified, total } = part;
  const draft = folder.temporary();
  onDisk(() => {
    writeFileSync(draft, JSON.stringify({ url, etag, lastModified, total }), { mode: fileMode() });
    renameSync(draft, folder.sidecar(part.key));
    folder.knownParts.add(part.key);
  });
}

/** The file goes first: a sidecar alone is harmless, a file alone would be orphaned. */
export function dropPart(folder: Folder, key: string): void {
  folder.knownParts.delete(key);
  rmSync(folder.part(key), { force: true });
  rmSync(folder.sidecar(key), { force: true });
}

function parseSidecar(text: string): Omit<PartOf, "key"> | null {
  try {
    const value = JSON.parse(text) as Record<string, unknown>;
    const { url, etag, lastModified, total } = value;
    if (typeof url !== "string" || !isTextOrNull(etag) || !isTextOrNull(lastModified)) return null;
    if (total !== null && !Number.isSafeInteger(total)) return null;
    return { url, etag, lastModified, total: total as number | null };
  } catch {
    return null;
  }
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === "string";
}
