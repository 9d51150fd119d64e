import { renameSync, statSync, unlinkSync } from "node:fs";
import { rename, stat, unlink } from "node:fs/promises";
import type { Clock } from "../base/clock.ts";
import { systemCode } from "../base/errors.ts";

/** Longer than any process takes between finding a stored file and writing the row that references it. */
export const YOUNG_MS = 60 * 60 * 1000;
/** The quarantine name contains the original name, so that files can be restored. */
const QUARANTINE_PREFIX = "loose-";

/** The quarantine path of a file, in a folder for temporary files on the same disk. */
export function quarantinePath(tmp: string, name: string): string {
  return `${tmp}/${QUARANTINE_PREFIX}${name}`;
}

/** The original name of a quarantined file; null: not a quarantined file. */
export function quarantinedName(file: string): string | null {
  const name = file.startsWith(QUARANTINE_PREFIX) ? file.slice(QUARANTINE_PREFIX.length) : "";
  return /^[0-9a-f]{64}(?:\.[a-z]+)?$/.test(name) ? name : null;
}

/**
 * Removes a file that no row references, and returns whether it is gone. Another process may store the same content
 * concurrently: if it found the file, the file's age is fresh; if it comes after the quarantine, it writes the file
 * again. Files left in quarantine by a dead or slow process are restored by the next process that starts.
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
    const isRemoved = !(await isYoung(quarantined)) && (await isOrphaned());
    await (isRemoved ? unlink(quarantined) : rename(quarantined, path));
    return isRemoved;
  } catch (error) {
    // Restored by another process: checked again later.
    if (systemCode(error) === "ENOENT") return false;
    throw error;
  }
}

/**
 * Moves a quarantined file back, or drops it if the content was stored again. Whether a row references it is checked
 * elsewhere.
 */
export function putBack(quarantined: string, path: string): void {
  try {
    if (statSync(path, { throwIfNoEntry: false }) === undefined) renameSync(quarantined, path);
    else unlinkSync(quarantined);
  } catch (error) {
    // The process that quarantined it is alive and finished first.
    if (systemCode(error) !== "ENOENT") throw error;
  }
}
