// Bundles the program (src/ → dist/code): 850 files become some 150, which start in half the time. `bin/orb`, `npm run
// build` and the tests call the same function. A published package contains dist/code and no sources: then there is
// nothing to do.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { node24, root } from "./bootstrap.mjs";
import { ensureBuilt, madeIn, STAMP } from "./built.mjs";

const DAY_MS = 86_400_000;

/**
 * True: it was built now. Throws with the bundler's output on failure. Chunks of earlier builds stay for `keepMs`: a
 * running server loads some chunks on demand.
 */
export async function ensureCode({ folder = root, tell = () => {}, keepMs = DAY_MS } = {}) {
  if (!existsSync(join(folder, "src", "main.ts"))) return false;
  const built = await ensureBuilt({
    folder,
    name: "code",
    sources: ["src", "scripts/code.mjs", "scripts/bundle.mjs"],
    build: async (fresh) => {
      if (!existsSync(join(folder, "node_modules", "rolldown")))
        throw new Error("the packages for development are not installed: run npm ci");
      tell("building the program …\n");
      await bundle(folder, fresh);
    },
    place,
  });
  if (built || keepMs === 0) prune(join(folder, "dist", "code"), keepMs);
  return built;
}

/** In a separate process: a server would not get the bundler's memory back. */
function bundle(folder, out) {
  return new Promise((resolve, reject) => {
    const child = spawn(node24(folder), [join(folder, "scripts", "bundle.mjs"), folder, out], {
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (said += text));
    child.on("error", reject);
    child.on("close", (code) =>
      code === 0 ? resolve() : reject(new Error(`the program could not be built:\n${said.trim()}`)),
    );
  });
}

/** Chunks with content hashes first, then the files with fixed names that import them. */
function place(fresh, target) {
  mkdirSync(target, { recursive: true });
  // A chunk's time is when it last belonged to the program.
  const now = new Date();
  for (const name of madeIn(target)) if (existsSync(join(target, name))) utimesSync(join(target, name), now, now);
  // Remove the stamp until the new one is written: a kill in between triggers another build.
  rmSync(join(target, STAMP), { force: true });
  for (const name of readdirSync(fresh).sort((a, b) => turnOf(a) - turnOf(b)))
    renameSync(join(fresh, name), join(target, name));
}

function prune(target, keepMs) {
  const made = new Set(madeIn(target));
  for (const name of readdirSync(target).filter((name) => !made.has(name))) {
    const changed = statSync(join(target, name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (Date.now() - changed >= keepMs) rmSync(join(target, name), { recursive: true, force: true });
  }
}

const turnOf = (name) => (name === STAMP ? 2 : /^[^.]+\.js(\.map)?$/.test(name) ? 1 : 0);
