// Finds a Chromium for the browser tests, or installs one where that takes a single quiet command. Plain JavaScript, for
// Node 20 and without packages.
import { spawn } from "node:child_process";
import { accessSync, constants, mkdirSync, readdirSync, rmdirSync, statSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { delimiter, join } from "node:path";

/** The shell first: it starts and renders two to three times as fast. */
const NAMES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];
const LOCK_MS = 10 * 60_000;

/** The path of a Chromium that can be run, or null. */
export function findChromium(env = process.env) {
  const folders = (env.PATH ?? "").split(delimiter).filter(Boolean);
  const onPath = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
  return [env.APP_BROWSER_PATH, ...playwrightShells(env), ...onPath].find(isExecutable) ?? null;
}

/** As `findChromium`; root on a machine with apt gets one installed. Doing it again, or twice at once, does no harm. */
export async function ensureChromium(env = process.env) {
  const found = findChromium(env);
  if (found !== null) return found;
  if (process.getuid?.() !== 0 || !hasCommand("apt-get", env)) return null;
  return withLock(async () => {
    if (findChromium(env) === null) {
      process.stdout.write("Installing chromium-headless-shell for the browser tests …\n");
      // The lists of packages are fetched only when what is there does not do.
      if (!(await install(env)) && (await apt(["update"], env))) await install(env);
    }
    return findChromium(env);
  });
}

async function install(env) {
  for (const name of ["chromium-headless-shell", "chromium"])
    if (await apt(["install", "-y", "--no-install-recommends", name], env)) return true;
  return false;
}

function apt(args, env) {
  return new Promise((resolve) => {
    const child = spawn("apt-get", ["-qq", "-o", "DPkg::Lock::Timeout=120", ...args], {
      env: { ...env, DEBIAN_FRONTEND: "noninteractive" },
      stdio: "ignore",
    });
    child.on("error", () => resolve(false));
    child.on("exit", (code) => resolve(code === 0));
  });
}

/** A folder can be made by one process only. One that is old was left by a process that died. */
async function withLock(work) {
  const lock = join(tmpdir(), "orb-install-chromium.lock");
  for (;;) {
    try {
      mkdirSync(lock);
      break;
    } catch (error) {
      if (error.code !== "EEXIST") return work();
      if (ageOf(lock) > LOCK_MS) release(lock);
      else await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
  try {
    return await work();
  } finally {
    release(lock);
  }
}

function ageOf(path) {
  try {
    return Date.now() - statSync(path).mtimeMs;
  } catch {
    return 0;
  }
}

function release(path) {
  try {
    rmdirSync(path);
  } catch {
    // Another process was quicker.
  }
}

/** What `npx playwright-core install chromium-headless-shell` leaves in its cache. */
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

function hasCommand(name, env) {
  return (env.PATH ?? "").split(delimiter).some((folder) => isExecutable(join(folder, name)));
}

function isExecutable(path) {
  if (!path) return false;
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
