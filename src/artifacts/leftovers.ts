import { opendirSync, readdirSync, statSync, unlinkSync } from "node:fs";
import { artifactPath, type Folder, PART_PREFIX, SIDECAR_SUFFIX } from "./layout.ts";
import { quarantinedName, putBack } from "./orphaned-files.ts";

/** Older temporary files are abandoned. */
export const STALE_MS = 60 * 60 * 1000;

/** The keys of all parts on disk, including those of earlier processes. */
export async function* partsIn(folder: Folder): AsyncGenerator<string> {
  for await (const { name } of opendirSync(folder.tmp)) {
    const key = partKeyOf(name);
    if (key === null) continue;
    folder.knownParts.add(key);
    yield key;
  }
}

function partKeyOf(name: string): string | null {
  if (!name.startsWith(PART_PREFIX) || !name.endsWith(SIDECAR_SUFFIX)) return null;
  return name.slice(PART_PREFIX.length, -SIDECAR_SUFFIX.length);
}

export function removeIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Never created, or another process removed it first.
  }
}

/**
 * Removes temporary files of dead processes and restores quarantined files. Parts stay: only the janitor knows whether
 * their tasks are still open.
 */
export function removeLeftovers(folder: Folder, before: number): void {
  for (const name of readdirSync(folder.tmp)) {
    const key = partKeyOf(name);
    if (key !== null) folder.knownParts.add(key);
    if (name.startsWith(PART_PREFIX)) continue;
    const path = `${folder.tmp}/${name}`;
    const hash = quarantinedName(name);
    if (hash !== null) {
      putBack(path, folder.prepare(artifactPath(hash)));
      continue;
    }
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isFile() === true && found.mtimeMs < before) removeIfThere(path);
  }
}
