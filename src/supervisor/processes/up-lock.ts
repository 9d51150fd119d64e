import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { makeFile, makeFolder } from "../../base/files/file-modes.ts";

/**
 * One supervisor per data directory. An operating-system lock, taken through SQLite because Node has no API for it:
 * however its holder ends, the lock is free at once and never stale.
 */
export function acquireSupervisorLock(folder: string): { release(): void } | null {
  makeFolder(folder);
  makeFile(join(folder, "lock"));
  const file = new DatabaseSync(join(folder, "lock"));
  try {
    file.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    return { release: () => file.close() };
  } catch (error) {
    file.close();
    if (isTaken(error)) return null;
    throw error;
  }
}

function isTaken(error: unknown): boolean {
  return error instanceof Error && /database is locked/.test(error.message);
}
