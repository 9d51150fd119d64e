/** Finds external programs, and runs short-lived ones. */
import { execFileSync, spawn } from "node:child_process";
import { accessSync, constants, readdirSync, readFileSync, statSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { messageOf, OrbError } from "../../base/errors.ts";
import { harmlessEnvironment } from "../../base/machine.ts";
import type { Program } from "../processes/handle.ts";

/** Debian and its derivatives keep the server's programs off the path, in a folder per version. */
const POSTGRES_FOLDERS = "/usr/lib/postgresql";

export function findRedis(): string | null {
  return (
    onPath()
      .map((folder) => join(folder, "redis-server"))
      .find(isExecutable) ?? null
  );
}

/**
 * The folder of `postgres` and `initdb`: the version that the data needs, or the first on the path, or the newest
 * installed.
 */
export function findPostgres(version: string | null = null): string | null {
  const folders = postgresFolders();
  return (version === null ? folders[0] : folders.find((folder) => postgresVersion(folder) === version)) ?? null;
}

function postgresFolders(): string[] {
  const versions = listFolders(POSTGRES_FOLDERS)
    .filter((name) => /^\d+$/.test(name))
    .toSorted((a, b) => Number(b) - Number(a))
    .map((name) => join(POSTGRES_FOLDERS, name, "bin"));
  const complete = (folder: string) => ["postgres", "initdb"].every((name) => isExecutable(join(folder, name)));
  return [...onPath(), ...versions].filter(complete);
}

/** As in data directories: 17, and 9.6 for old versions. */
function postgresVersion(folder: string): string | null {
  try {
    const output = execFileSync(join(folder, "postgres"), ["--version"], {
      encoding: "utf8",
      env: harmlessEnvironment(),
      timeout: 5000,
    });
    return /\) (9\.\d+|\d+)/.exec(output)?.[1] ?? null;
  } catch {
    return null;
  }
}

export function requireRedis(): string {
  const found = findRedis();
  if (found !== null) return found;
  throw missing("redis", "redis-server is not on the PATH", "apt-get install redis-server");
}

/** `version`: of the existing data; null: no data yet. */
export function requirePostgres(version: string | null): string {
  const found = findPostgres(version);
  if (found !== null) return found;
  const others = postgresFolders().map(postgresVersion);
  if (version !== null && others.length > 0)
    throw new OrbError(
      "service_unavailable",
      `the managed Postgres data needs version ${version}, which is not installed (installed: ${others.join(", ")})`,
      {
        hint: `Install version ${version} (apt-get install postgresql-${version}), or upgrade the data with pg_upgrade.`,
      },
    );
  const where = `neither on the PATH nor in ${POSTGRES_FOLDERS}`;
  throw missing("postgres", `postgres and initdb are ${where}`, "apt-get install postgresql");
}

function missing(name: string, what: string, remedy: string): OrbError {
  return new OrbError("service_unavailable", `APP_MANAGED_SERVICES contains ${name}, but ${what}`, {
    hint: `Install it (${remedy}), or remove ${name} from APP_MANAGED_SERVICES.`,
    fields: [{ path: "APP_MANAGED_SERVICES", message: what }],
  });
}

function onPath(): string[] {
  return (harmlessEnvironment()["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
}

function listFolders(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export interface SystemUser {
  name: string;
  uid: number;
  gid: number;
}

/** The user that Postgres runs as: it refuses root. Null: ours. */
export function postgresUser(): SystemUser | null {
  if (process.getuid?.() !== 0) return null;
  const line = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((candidate) => candidate.startsWith("postgres:"));
  const [name, , uid, gid] = line?.split(":") ?? [];
  if (name !== undefined) return { name, uid: Number(uid), gid: Number(gid) };
  throw new OrbError("service_unavailable", "Postgres cannot run as root, and there is no user postgres to run it as", {
    hint: "Start orb up as an ordinary user, or create the user: useradd --system postgres",
  });
}

/** A parent folder that the user may not enter; null: none. */
export function closedTo(user: SystemUser, path: string): string | null {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const found = statSync(folder, { throwIfNoEntry: false });
    const bit = found?.uid === user.uid ? 0o100 : found?.gid === user.gid ? 0o010 : 0o001;
    if (found !== undefined && (found.mode & bit) === 0) return folder;
    if (folder === dirname(folder)) return null;
  }
}

/** Runs a program to its end. The error contains its output when it fails. */
export function runProgram(program: Program, options: { input?: string; signal: AbortSignal }): Promise<void> {
  return new Promise((resolve, reject) => {
    const name = program.file.split("/").at(-1) ?? program.file;
    const fail = (why: string) => reject(new OrbError("service_unavailable", `${name} failed: ${why}`));
    const child = spawn(program.file, program.args, {
      cwd: program.cwd,
      env: program.env,
      stdio: ["pipe", "pipe", "pipe"],
      detached: true,
      ...program.user,
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => (output = `${output}${text}`.slice(-4000)));
    child.stdin.on("error", () => {});
    child.stdin.end(options.input ?? "");
    const end = () => child.kill("SIGKILL");
    options.signal.addEventListener("abort", end, { once: true });
    if (options.signal.aborted) end();
    child.once("error", (error) => fail(messageOf(error)));
    child.once("close", (code, signal) => {
      options.signal.removeEventListener("abort", end);
      if (code === 0) resolve();
      else
        fail(
          `${signal ?? `exit code ${code}`}${output.trim() === "" ? "" : `: ${output.trim().split("\n").slice(-3).join(" ")}`}`,
        );
    });
  });
}
