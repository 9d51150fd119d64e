import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

const folder = new URL("../peers/", import.meta.url);
const resolver = createRequire(new URL("package.json", folder));

function find(name: string): string | null {
  try {
    return resolver.resolve(name);
  } catch {
    return null;
  }
}

/** The path of a peer package, after installing all of them if needed; null: unavailable. */
function findOrInstall(name: string): string | null {
  const there = find(name);
  if (there !== null) return there;
  try {
    // `npm ci` requires the optional packages of all platforms, which not every registry has.
    execFileSync("npm", ["install", "--no-save", "--silent"], { cwd: fileURLToPath(folder), stdio: "ignore" });
  } catch {
    return null;
  }
  return find(name);
}

/** Loads a peer package, or another file of it; null: unavailable. */
export async function loadPeer<T>(name: string, file?: string): Promise<T | null> {
  const path = findOrInstall(name);
  if (path === null) return null;
  const main = pathToFileURL(path);
  return (await import((file === undefined ? main : new URL(file, main)).href)) as T;
}

/** Like `loadPeer`, but throws. */
export async function requirePeer<T>(name: string): Promise<T> {
  const peer = await loadPeer<T>(name);
  if (peer === null) throw new Error(`${name} could not be installed`);
  return peer;
}
