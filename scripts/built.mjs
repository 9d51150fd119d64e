// When something under dist/ has to be built again: when its sources are others than those that it was built of. What
// they are is known by their content; their times only save reading them all at every start.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lock } from "./bootstrap.mjs";

export const STAMP = "sources.json";

/**
 * Builds `dist/NAME` unless it is what the sources say; two processes at once build once. `build` fills an empty folder,
 * `place` puts it where it belongs. True: it was built now.
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
    // Looked at before: what is changed while it is built makes it stale again.
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

/** What builds that were killed have left. Who has the lock builds alone. */
function removeLeftovers(dist, name) {
  for (const entry of readdirSync(dist))
    if (entry.startsWith(`.${name}-`)) rmSync(join(dist, entry), { recursive: true, force: true });
}

/** The names of what the last build made. */
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
    // A checkout, a copy: other times, the same content. Another process may be reading the stamp.
    const next = `${path}.${process.pid}`;
    writeFileSync(next, JSON.stringify({ ...stamp, files }));
    renameSync(next, path);
  } catch {
    // Not ours to write: then the content is read every time.
  }
  return true;
}

/** One line per file: path, size, time. `sources` are files, and folders with all that is in them but Markdown; this file is one. */
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
