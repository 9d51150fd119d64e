// Builds the dashboard (web/ → dist/web). `orb serve`, `npm run build`, `npm start` and the tests call the same
// function. A published package contains dist/web and no sources: then there is nothing to do.
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { node24, root } from "./bootstrap.mjs";
import { ensureBuilt } from "./built.mjs";

/** True: it was built now. Throws with the builder's output on failure. */
export async function ensureWeb({ folder = root, tell = () => {} } = {}) {
  if (!existsSync(join(folder, "web", "vite.config.ts"))) return false;
  return ensureBuilt({
    folder,
    name: "web",
    sources: ["web", "src/api-client/operations.ts", "src/domain/crawl", "package-lock.json", "scripts/web.mjs"],
    build: async (fresh) => {
      const builder = join(folder, "node_modules", "vite", "bin", "vite.js");
      if (!existsSync(builder)) throw new Error("the packages for development are not installed: run npm ci");
      tell("building the dashboard …\n");
      await vite(folder, builder, fresh);
      compress(fresh);
    },
    place,
  });
}

/** A running server serves either the old files or the new ones, never a mix for long. */
function place(fresh, target) {
  const old = `${fresh}-old`;
  if (existsSync(target)) renameSync(target, old);
  renameSync(fresh, target);
  rmSync(old, { recursive: true, force: true });
}

/** Silent on success; prints the builder's output on failure. */
function vite(folder, builder, out) {
  const args = [builder, "build", "--config", join(folder, "web", "vite.config.ts"), "--logLevel", "warn"];
  return new Promise((resolve, reject) => {
    const child = spawn(node24(folder), args, {
      cwd: folder,
      env: { ...process.env, NODE_ENV: "production", ORB_WEB_OUT: out },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (said += text));
    child.on("error", reject);
    child.on("close", (code) =>
      code === 0 ? resolve() : reject(new Error(`the dashboard could not be built:\n${said.trim()}`)),
    );
  });
}

function compress(folder) {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !/\.(js|css|html|svg)$/.test(entry.name)) continue;
    const path = join(entry.parentPath ?? entry.path, entry.name);
    const bytes = readFileSync(path);
    const small = gzipSync(bytes, { level: 9 });
    if (small.length < bytes.length * 0.9) writeFileSync(`${path}.gz`, small);
  }
}
