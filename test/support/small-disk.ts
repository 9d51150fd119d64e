import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { tempDir } from "./temp-dir.ts";

/** A file system of its own, small enough to be filled. */
export function smallDisk(megabytes: number): Disposable & { path: string } {
  const folder = tempDir();
  const path = join(folder.path, "disk");
  mkdirSync(path);
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", path]);
  if (mounted.status !== 0) {
    folder[Symbol.dispose]();
    throw new Error(`mount failed: ${String(mounted.stderr ?? mounted.error)}`);
  }
  return {
    path,
    [Symbol.dispose]: () => {
      // Lazily: a process that is about to end must not keep the folder from going away.
      spawnSync("umount", ["-l", path]);
      folder[Symbol.dispose]();
    },
  };
}

/** It needs root and the right to mount a tmpfs. */
export function mayMount(): boolean {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return false;
  try {
    smallDisk(1)[Symbol.dispose]();
    return true;
  } catch {
    return false;
  }
}
