import { renameSync, statSync, unlinkSync } from "node:fs";
import { rename, stat, unlink } from "node:fs/promises";
import type { Clock } from "../base/clock.ts";
import { systemCode } from "../base/errors.ts";

/** Longer than anybody needs from finding a file there to writing the row that names it. */
export const YOUNG_MS = 60 * 60 * 1000;
/** Files on their way out are named by what they are called, so that they can be put back. */
const ASIDE_PREFIX = "loose-";

/** Where a file of this name waits for its end, in a folder for temporary files on the same disk. */
export function asideOf(tmp: string, name: string): string {
  return `${tmp}/${ASIDE_PREFIX}${name}`;
}

/** The name of a file that was put aside; null: it is something else. */
export function asideName(file: string): string | null {
  const name = file.startsWith(ASIDE_PREFIX) ? file.slice(ASIDE_PREFIX.length) : "";
  return /^[0-9a-f]{64}(?:\.[a-z]+)?$/.test(name) ? name : null;
}

/**
 * Removes a file that no row names, and says whether it is gone. Somebody may store the same content at this moment: who
 * found the file has made it young, and who comes after it was put aside writes it anew. What a process has put aside
 * that died then, or is slow, is put back by the next one that starts.
 */
export async function removeOrphaned(
  { path, aside }: { path: string; aside: string },
  clock: Clock,
  isOrphaned: () => Promise<boolean>,
): Promise<boolean> {
  const isYoung = async (file: string) => (await stat(file)).mtimeMs > clock.now() - YOUNG_MS;
  try {
    if (await isYoung(path)) return false;
    await rename(path, aside);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return true;
    throw error;
  }
  try {
    const goes = !(await isYoung(aside)) && (await isOrphaned());
    await (goes ? unlink(aside) : rename(aside, path));
    return goes;
  } catch (error) {
    // It was put back meanwhile: it has its turn again.
    if (systemCode(error) === "ENOENT") return false;
    throw error;
  }
}

/** Whether a row names it is for those to say who know: until then it is where it was, unless it was stored anew. */
export function putBack(aside: string, path: string): void {
  try {
    if (statSync(path, { throwIfNoEntry: false }) === undefined) renameSync(aside, path);
    else unlinkSync(aside);
  } catch (error) {
    // Whoever put it aside lives, and was faster.
    if (systemCode(error) !== "ENOENT") throw error;
  }
}
