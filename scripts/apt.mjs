// Installs system packages for tests, where one unattended command can: as root, on Debian and derivatives. Plain
// JavaScript, for Node 20 and without packages.
import { spawn, spawnSync } from "node:child_process";
import { accessSync, constants, mkdirSync, rmdirSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

const LOCK_MS = 10 * 60_000;

export function canInstall(env) {
  return process.getuid?.() === 0 && findCommand("apt-get", env) !== undefined;
}

/** Whether all of these are installed afterwards. `withinMs`: gives up if fetching takes longer. */
export async function installPackages(names, env, { withinMs } = {}) {
  const words = ["install", "-y", "--no-install-recommends"];
  const isFetched = withinMs === undefined || (await apt([...words, "--download-only", ...names], env, withinMs));
  return isFetched && apt([...words, ...names], env);
}

/** The installed version of a package, or null. */
export function installedVersion(name, env) {
  const { status, stdout } = spawnSync("dpkg-query", ["-W", "-f=${db:Status-Abbrev}${Version}", name], {
    env,
    encoding: "utf8",
  });
  return status === 0 && stdout.startsWith("ii ") ? stdout.slice("ii ".length) : null;
}

/** Updates the package lists. */
export function updateLists(env) {
  return apt(["update"], env);
}

function apt(args, env, withinMs) {
  return new Promise((resolve) => {
    const child = spawn("apt-get", ["-qq", "-o", "DPkg::Lock::Timeout=120", ...args], {
      // This run level keeps installed services from starting: tests start what they need.
      env: { ...env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" },
      stdio: "ignore",
      ...(withinMs === undefined ? {} : { timeout: withinMs }),
    });
    child.on("error", () => resolve(false));
    child.on("exit", (code) => resolve(code === 0));
  });
}

/** Only one process can create a folder. An old one was left by a dead process. */
export async function withLock(name, work) {
  const lock = join(tmpdir(), `orb-install-${name}.lock`);
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
    // Another process was faster.
  }
}

export function findCommand(name, env) {
  return (env.PATH ?? "")
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find(isExecutable);
}

export function isExecutable(path) {
  if (!path) return false;
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
