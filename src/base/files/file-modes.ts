/** Who may read what is stored: its owner alone, or a group as well. */
import { closeSync, mkdirSync, openSync, statSync } from "node:fs";
import { systemCode } from "../errors.ts";

let isShared = false;

/** For all files and folders that are made from now on. */
export function shareWithGroup(shared: boolean): void {
  isShared = shared;
}

export const folderMode = (): number => (isShared ? 0o750 : 0o700);
export const fileMode = (): number => (isShared ? 0o640 : 0o600);

/** Makes a folder, and those above it, unless they are there. */
export function makeFolder(path: string): string | undefined {
  return mkdirSync(path, { recursive: true, mode: folderMode() });
}

/** Makes an empty file unless there is one: for programs that would make it for everybody. */
export function makeFile(path: string): void {
  if (statSync(path, { throwIfNoEntry: false }) !== undefined) return;
  try {
    closeSync(openSync(path, "ax", fileMode()));
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
  }
}
