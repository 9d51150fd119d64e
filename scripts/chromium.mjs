// Finds a Chromium for the browser tests, or installs one where one unattended command can. Plain JavaScript, for Node
// 20 and without packages.
import { readdirSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { canInstall, installedVersion, installPackages, isExecutable, updateLists, withLock } from "./apt.mjs";

/** The shell first: it starts and renders two to three times as fast. */
const NAMES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];

/** The path of a working Chromium, or null. */
export function findChromium(env = process.env) {
  const folders = (env.PATH ?? "").split(delimiter).filter(Boolean);
  const onPath = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
  return [env.APP_BROWSER_PATH, ...playwrightShells(env), ...onPath].find(isExecutable) ?? null;
}

/** Like `findChromium`; as root with apt it installs one. Idempotent, also concurrently. */
export async function ensureChromium(env = process.env) {
  const found = findChromium(env);
  if (found !== null && (found === env.APP_BROWSER_PATH || isShell(found))) return found;
  if (!canInstall(env)) return found;
  return withLock("chromium", async () => {
    const now = findChromium(env);
    if (now === null) {
      process.stdout.write("Installing chromium-headless-shell for the browser tests …\n");
      // Package lists are updated only if installing fails with the present ones.
      if (!(await install(env)) && (await updateLists(env))) await install(env);
    } else if (!isShell(now)) await addShell(env);
    return findChromium(env);
  });
}

/** How long a machine with a full browser waits for the shell, which saves more than that in the tests. */
const SHELL_MS = 90_000;

/**
 * Installs the shell beside the system's full browser, in the same version, so that nothing else changes: page tests
 * take less than half the CPU time with it. Falls back to the full one.
 */
async function addShell(env) {
  const version = installedVersion("chromium-common", env);
  if (version === null) return;
  process.stdout.write("Adding chromium-headless-shell, which is quicker, for the browser tests …\n");
  await installPackages([`chromium-headless-shell=${version}`], env, { withinMs: SHELL_MS });
}

const isShell = (path) => /headless[-_]shell$/.test(path);

async function install(env) {
  for (const name of ["chromium-headless-shell", "chromium"]) if (await installPackages([name], env)) return true;
  return false;
}

/** Installed by `npx playwright-core install chromium-headless-shell` into its cache. */
function playwrightShells(env) {
  const cache = env.PLAYWRIGHT_BROWSERS_PATH ?? join(homedir(), ".cache", "ms-playwright");
  const list = (folder) => {
    try {
      return readdirSync(folder);
    } catch {
      return [];
    }
  };
  return list(cache)
    .filter((name) => name.startsWith("chromium_headless_shell-"))
    .flatMap((name) => list(join(cache, name)).map((inner) => join(cache, name, inner, "chrome-headless-shell")));
}
