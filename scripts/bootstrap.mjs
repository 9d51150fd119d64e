// Prerequisites of every script: the packages, and a Node that runs TypeScript. Plain JavaScript without dependencies,
// because it runs on Node 20 in a fresh clone.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync, lstatSync } from "node:fs";
import { constants } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { binaryPackage, findRuntime, isNewEnough, WANTED_MAJOR } from "../bin/handover.mjs";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * Installs package-lock.json if needed; two scripts at once install once. Without `dev`, an installation without
 * development packages suffices.
 */
export async function ensureInstalled({ folder = root, dev = true } = {}) {
  if (isInstalled(folder, dev)) return false;
  const unlock = await lock(join(folder, ".install.lock"));
  try {
    if (isInstalled(folder, dev)) return false;
    refuseLink(join(folder, "node_modules"));
    process.stderr.write("installing packages (npm ci) …\n");
    await npm(folder, ["ci", "--no-audit", "--no-fund", "--loglevel=error"]);
    return true;
  } finally {
    unlock();
  }
}

/** npm would empty the folder behind a link, which others use, and replace the link. */
function refuseLink(path) {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return;
  throw new Error(
    `${path} is a link, and what it leads to is not what package-lock.json asks for: run npm ci there, or remove the link.`,
  );
}

/** npm records what it installed in node_modules/.package-lock.json; file times are wrong after a git checkout. */
export function isInstalled(folder, dev = true) {
  const wanted = readPackages(join(folder, "package-lock.json"));
  const present = readPackages(join(folder, "node_modules", ".package-lock.json"));
  if (wanted === undefined || present === undefined) return false;
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === "" || entry.link === true || (!dev && entry.dev === true)) return true;
    // Packages for other platforms are in the lock file, but not on this machine.
    if (present[path] === undefined)
      return entry.optional === true || entry.devOptional === true || entry.peer === true;
    return present[path].version === entry.version && present[path].integrity === entry.integrity;
  });
}

function readPackages(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8")).packages;
  } catch {
    return undefined;
  }
}

/** Path of a Node that can run the program. */
export function node24(folder = root) {
  if (isNewEnough(process.versions.node)) return process.execPath;
  const found = findRuntime(folder);
  if (found !== undefined) return found;
  // The package `node` fetches its binary in an install script, which npm may be configured not to run.
  const attempts = [
    ["rebuild", "node", "--ignore-scripts=false", "--foreground-scripts=false"],
    ["install", "--no-save", "--no-audit", "--no-fund", `${binaryPackage()}@${WANTED_MAJOR}`],
  ];
  for (const attempt of attempts) {
    if (existsSync(join(folder, "node_modules"))) spawnSync(npmCommand(), attempt, { cwd: folder, stdio: "ignore" });
    const runtime = findRuntime(folder);
    if (runtime !== undefined) return runtime;
  }
  throw new Error(
    `Node ${WANTED_MAJOR} is needed, this is ${process.versions.node}, and npm could not bring it along: ` +
      `install Node ${WANTED_MAJOR} and try again.`,
  );
}

const npmCommand = () => (process.platform === "win32" ? "npm.cmd" : "npm");

/** Silent on success; prints npm's output on failure. */
function npm(folder, args) {
  // npm must run on the system's Node: it replaces node_modules/.bin/node.
  const path = (process.env.PATH ?? "")
    .split(delimiter)
    .filter((entry) => !entry.endsWith(join("node_modules", ".bin")))
    .join(delimiter);
  return new Promise((resolve, reject) => {
    const child = spawn(npmCommand(), args, { cwd: folder, env: { ...process.env, PATH: path } });
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (said += text));
    child.on("error", (error) => reject(new Error(`npm could not be started: ${error.message}`)));
    child.on("close", (code) => {
      if (code === 0) return resolve();
      process.stderr.write(said);
      return reject(new Error(`npm ${args[0]} failed with exit code ${code}`));
    });
  });
}

const LOCK_STALE_MS = 15_000;

/** Only one process can create a directory; its time is renewed, so that a dead owner's lock is recognised. */
export async function lock(path) {
  for (;;) {
    try {
      mkdirSync(path);
      break;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
    const changed = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - changed > LOCK_STALE_MS) rmSync(path, { recursive: true, force: true });
    else await new Promise((resolve) => setTimeout(resolve, 200));
  }
  const renew = setInterval(() => utimesSync(path, new Date(), new Date()), LOCK_STALE_MS / 5);
  return () => {
    clearInterval(renew);
    rmSync(path, { recursive: true, force: true });
  };
}

/** Runs a command in place of this script: same streams, forwarded signals; resolves with its exit code. */
export function run(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, stdio: "inherit", ...options });
    const forward = (signal) => child.kill(signal);
    const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
    for (const signal of signals) process.on(signal, forward);
    child.on("error", reject);
    child.on("close", (code, signal) => {
      for (const name of signals) process.off(name, forward);
      resolve(code ?? 128 + (constants.signals[signal] ?? 0));
    });
  });
}

/** Prints one sentence instead of a stack: failures here come from the machine's state, not the script. */
export async function script(body) {
  try {
    process.exitCode = await body(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
