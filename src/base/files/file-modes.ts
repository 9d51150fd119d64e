/** File permissions: owner only, or group as well. */
import { closeSync, mkdirSync, openSync, statSync } from "node:fs";
import { systemCode } from "../errors.ts";

let isShared = false;

/** For all files and folders created from now on. */
export function shareWithGroup(shared: boolean): void {
  isShared = shared;
}

export const folderMode = (): number => (isShared ? 0o750 : 0o700);
export const fileMode = (): number => (isShared ? 0o640 : 0o600);

/** Creates a folder and its parents, if missing. */
export function makeFolder(path: string): string | undefined {
  return mkdirSync(path, { recursive: true, mode: folderMode() });
}

/** Creates an empty file, if missing: for programs that would create it world-readable. */
export function makeFile(path: string): void {
  if (statSync(path, { throwIfNoEntry: false }) !== undefined) return;
  try {
    closeSync(openSync(path, "ax", fileMode()));
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
  }
}
