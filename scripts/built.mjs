// Rebuilds a folder under dist/ when its sources have changed, by content; file times only save reading all of them at
// every start.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lock } from "./bootstrap.mjs";

export const STAMP = "sources.json";

/**
 * Builds `dist/NAME` if it is stale; two processes at once build once. `build` fills an empty folder, `place` moves it
 * to its target. True: it was built now.
 */
export async function ensureBuilt({ folder, name, sources, build, place }) {
  const target = join(folder, "dist", name);
  if (isFresh(folder, target, sources)) return false;
  mkdirSync(join(folder, "dist"), { recursive: true });
  const unlock = await lock(join(folder, "dist", `.${name}.lock`));
  const fresh = join(folder, "dist", `.${name}-${process.pid}`);
  try {
    if (isFresh(folder, target, sources)) return false;
    removeLeftovers(join(folder, "dist"), name);
    // Listed before the build: a change during the build makes it stale again.
    const files = list(folder, sources);
    const hash = hashOf(folder, files);
    mkdirSync(fresh, { recursive: true });
    await build(fresh);
    const made = [...readdirSync(fresh), STAMP];
    writeFileSync(join(fresh, STAMP), JSON.stringify({ hash, made, files }));
    place(fresh, target);
    return true;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
    unlock();
  }
}

/** Removes what killed builds left. The lock holder builds alone. */
function removeLeftovers(dist, name) {
  for (const entry of readdirSync(dist))
    if (entry.startsWith(`.${name}-`)) rmSync(join(dist, entry), { recursive: true, force: true });
}

/** Files of the last build. */
export const madeIn = (target) => readStamp(target)?.made ?? [];

function readStamp(target) {
  try {
    return JSON.parse(readFileSync(join(target, STAMP), "utf8"));
  } catch {
    return undefined;
  }
}

function isFresh(folder, target, sources) {
  const path = join(target, STAMP);
  const stamp = readStamp(target);
  if (stamp === undefined) return false;
  const files = list(folder, sources);
  if (files === stamp.files) return true;
  if (hashOf(folder, files) !== stamp.hash) return false;
  try {
    // A checkout or copy: other times, same content. Another process may be reading the stamp.
    const next = `${path}.${process.pid}`;
    writeFileSync(next, JSON.stringify({ ...stamp, files }));
    renameSync(next, path);
  } catch {
    // Not writable: the content is read every time.
  }
  return true;
}

/**
 * One line per file: path, size, time. `sources` are files, and folders with all files but Markdown; this file is
 * included.
 */
function list(folder, sources) {
  const lines = [];
  const add = (path) => {
    const stat = statSync(join(folder, path), { throwIfNoEntry: false });
    if (stat?.isDirectory() === true) {
      for (const entry of readdirSync(join(folder, path)).sort()) if (!entry.endsWith(".md")) add(`${path}/${entry}`);
    } else if (stat !== undefined) {
      lines.push(`${path}\t${stat.size}\t${stat.mtimeMs}`);
    }
  };
  for (const path of ["scripts/built.mjs", ...sources]) add(path);
  return lines.join("\n");
}

function hashOf(folder, files) {
  const hash = createHash("sha256");
  for (const line of files.split("\n")) {
    const [path = ""] = line.split("\t");
    const bytes = readFileSync(join(folder, path));
    hash.update(`${path}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest("hex");
}
