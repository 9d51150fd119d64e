import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { fileMode } from "../base/files/file-modes.ts";
import { onDisk } from "./disk.ts";
import type { Folder } from "./layout.ts";

/** Identifies the resource of a partial file, as its server described it. */
export interface PartOf {
  /** Chosen by the caller, such as a task's id. */
  key: string;
  url: string;
  etag: string | null;
  lastModified: string | null;
  /** The full size, when the server sent it. */
  total: number | null;
}

export interface ResumablePart extends PartOf {
  /** Bytes on disk, from the file itself: after a kill no other record is reliable. */
  offset: number;
}

/** Null when there is nothing to resume, or when part and sidecar do not match (both are then removed). */
export function readPart(folder: Folder, key: string): ResumablePart | null {
  const sidecar = folder.sidecar(key);
  // The usual case, checked before every fetch: no part.
  if (!folder.knownParts.has(key)) return null;
  if (statSync(sidecar, { throwIfNoEntry: false }) === undefined) return null;
  const sidecarFields = parseSidecar(readFileSync(sidecar, "utf8"));
  const offset = statSync(folder.part(key), { throwIfNoEntry: false })?.size ?? 0;
  if (sidecarFields === null || offset === 0 || (sidecarFields.total !== null && offset >= sidecarFields.total)) {
    dropPart(folder, key);
    return null;
  }
  return { ...sidecarFields, key, offset };
}

/** Written before the first byte of the part: a part always has its sidecar. */
export function writeSidecar(folder: Folder, part: PartOf): void {
  const { url, etag, lastModified, total } = part;
  const draft = folder.temporary();
  onDisk(() => {
    writeFileSync(draft, JSON.stringify({ url, etag, lastModified, total }), { mode: fileMode() });
    renameSync(draft, folder.sidecar(part.key));
    folder.knownParts.add(part.key);
  });
}

/** Removes the file first: a sidecar alone is harmless, a file alone would be orphaned. */
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
