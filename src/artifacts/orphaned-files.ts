import { renameSync, statSync, unlinkSync } from "node:fs";
import { rename, stat, unlink } from "node:fs/promises";
import type { Clock } from "../base/clock.ts";
import { systemCode } from "../base/errors.ts";

/** Longer than anybody needs from finding a file there to writing the row that names it. */
export const YOUNG_MS = 60 * 60 * 1000;
/** The quarantine name contains the original name, so that files can be put back. */
const QUARANTINE_PREFIX = "loose-";

/** The quarantine path of a file, in a folder for temporary files on the same disk. */
export function quarantinePath(tmp: string, name: string): string {
  return `${tmp}/${QUARANTINE_PREFIX}${name}`;
}

/** The original name of a quarantined file; null: it is another file. */
export function quarantinedName(file: string): string | null {
  const name = file.startsWith(QUARANTINE_PREFIX) ? file.slice(QUARANTINE_PREFIX.length) : "";
  return /^[0-9a-f]{64}(?:\.[a-z]+)?$/.test(name) ? name : null;
}

/**
 * Removes a file that no row references, and returns whether it is gone. Another process may store the same content at
 * this moment: if it found the file, the file is young; if it comes after the quarantine, it writes the file again.
 * Files that a dead or slow process has quarantined are put back by the next one that starts.
 */
export async function removeOrphaned(
  { path, quarantined }: { path: string; quarantined: string },
  clock: Clock,
  isOrphaned: () => Promise<boolean>,
): Promise<boolean> {
  const isYoung = async (file: string) => (await stat(file)).mtimeMs > clock.now() - YOUNG_MS;
  try {
    if (await isYoung(path)) return false;
    await rename(path, quarantined);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return true;
    throw error;
  }
  try {
    const goes = !(await isYoung(quarantined)) && (await isOrphaned());
    await (goes ? unlink(quarantined) : rename(quarantined, path));
    return goes;
  } catch (error) {
    // It was put back: it is checked again later.
    if (systemCode(error) === "ENOENT") return false;
    throw error;
  }
}

/** Whether a row references it is checked elsewhere: until then it returns to its path, unless it was stored again. */
export function putBack(quarantined: string, path: string): void {
  try {
    if (statSync(path, { throwIfNoEntry: false }) === undefined) renameSync(quarantined, path);
    else unlinkSync(quarantined);
  } catch (error) {
    // The process that quarantined it is alive, and was faster.
    if (systemCode(error) !== "ENOENT") throw error;
  }
}
