import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

const folder = new URL("../peers/", import.meta.url);

/** Loads what we compare with, installing it first; null when it cannot be had. */
export async function loadPeer<T>(name: string): Promise<T | null> {
  if (!existsSync(new URL("node_modules/", folder))) {
    try {
      execFileSync("npm", ["ci", "--silent"], { cwd: fileURLToPath(folder), stdio: "ignore" });
    } catch {
      return null;
    }
  }
  const path = createRequire(new URL("package.json", folder)).resolve(name);
  return (await import(pathToFileURL(path).href)) as T;
}
