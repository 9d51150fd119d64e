/** Writes files atomically: complete or absent, whenever the process is killed or the power fails. */
import { randomUUID } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { systemCode } from "../errors.ts";
import { fileMode, makeFolder } from "./file-modes.ts";

interface FileOptions {
  mode?: number;
}

/** Replaces a file that only one process writes. The next call overwrites what a kill left. */
export function replaceFile(path: string, content: string, { mode = fileMode() }: FileOptions = {}): void {
  makeFolder(dirname(path));
  const draft = `${path}.new`;
  // A leftover may have other permissions, which opening it would keep.
  rmSync(draft, { force: true });
  writeDraft(draft, content, mode);
  renameSync(draft, path);
  flushFolder(dirname(path));
}

/** Creates a file unless it exists; false: it does. Of several processes at once exactly one creates it. */
export function createFile(path: string, content: string, { mode = fileMode() }: FileOptions = {}): boolean {
  makeFolder(dirname(path));
  if (exists(path)) return false;
  const draft = `${path}.${randomUUID()}.new`;
  try {
    writeDraft(draft, content, mode);
    const isCreated = linkUnlessThere(draft, path, content, mode);
    flushFolder(dirname(path));
    if (isCreated) removeDrafts(path);
    return isCreated;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Makes directory entries survive a power cut, as `fsync` does for contents. */
export function flushFolder(path: string): void {
  let folder: number;
  try {
    folder = openSync(path, "r");
  } catch {
    // Windows cannot open folders; it writes names at once.
    return;
  }
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** `flags` other than `wx` append to existing content. */
export function writeDraft(path: string, content: string, mode: number, flags = "wx"): void {
  const file = openSync(path, flags, mode);
  try {
    const bytes = Buffer.from(content);
    for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** FAT and some network file systems have no links. There a kill can leave an empty file. */
const NO_LINKS = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);

function linkUnlessThere(draft: string, path: string, content: string, mode: number): boolean {
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    const code = systemCode(error) ?? "";
    // ENOENT: the process that created the file has removed our draft.
    if (code === "EEXIST" || (code === "ENOENT" && exists(path))) return false;
    if (!NO_LINKS.has(code)) throw error;
  }
  try {
    writeDraft(path, content, mode);
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false;
    throw error;
  }
}

/** Removes drafts that killed or slower processes left behind. */
function removeDrafts(path: string): void {
  const name = basename(path);
  for (const entry of readdirSync(dirname(path)))
    if (entry.startsWith(`${name}.`) && entry.endsWith(".new")) rmSync(join(dirname(path), entry), { force: true });
}

const exists = (path: string) => statSync(path, { throwIfNoEntry: false }) !== undefined;
