import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { OrbError } from "../../base/errors.ts";
import { harmlessEnvironment, isOutOfSight, processesIn } from "../../base/machine.ts";
import type { Program } from "../processes/handle.ts";
import { helloPostgres, postgresTarget, StartingUp } from "./postgres-wire.ts";
import { closedTo, postgresUser, requirePostgres, runProgram, type SystemUser } from "./programs.ts";
import type { ServiceSettings, ServiceKind } from "./service-kind.ts";

/** Role and database created for us. */
const NAME = "orb";

/** A managed Postgres: on this machine only, with a password, as a separate user when we are root. */
export const postgres: ServiceKind = {
  name: "postgres",
  defaultPort: 5433,
  program: "postgres",
  require: (folder) => {
    const programs = requirePostgres(versionOf(join(folder, "data")));
    const user = postgresUser();
    if (user !== null) requireTraversable(user, folder);
    return programs;
  },
  folderOf: (folder) => join(folder, "data"),
  isMain: (pid, data) => pidInLock(data) === pid,
  portIn: (folder) => Number(lockLines(join(folder, "data"))?.[LOCK_PORT]) || null,
  async prepare(settings, signal) {
    const user = postgresUser();
    const data = join(settings.folder, "data");
    // Left by a kill: not needed once there is a cluster.
    rmSync(passwordFileOf(settings.folder), { force: true });
    if (!existsSync(data)) await makeCluster(settings, data, user, signal);
    clearStaleLock(data, settings);
    const options = [`listen_addresses=${settings.host}`, "unix_socket_directories=", "logging_collector=off"];
    return programOf(
      join(requirePostgres(versionOf(data)), "postgres"),
      ["-D", data, "-p", String(settings.port), ...options.flatMap((option) => ["-c", option])],
      data,
      user,
    );
  },
  urlOf: ({ port, password }) => `postgres://${NAME}:${password}@127.0.0.1:${port}/${NAME}`,
  target: (url) => postgresTarget(url),
  configured: ({ database }) => (database.kind === "postgres" ? database.url : null),
  // Its user and database would differ from those of the URL.
  settingsFor: () => null,
  async check(url, timeoutMs) {
    await helloPostgres(postgresTarget(url), timeoutMs).catch((error: unknown) => {
      throw error instanceof StartingUp ? Object.assign(error, { starting: true }) : error;
    });
    return "accepts connections";
  },
  // Fast: closes open connections. Then immediate: recovers at the next start.
  stopSteps: [
    { signal: "SIGINT", waitMs: 30_000 },
    { signal: "SIGQUIT", waitMs: 5000 },
  ],
  atOnce: "SIGQUIT",
};

function programOf(file: string, args: readonly string[], cwd: string, user: SystemUser | null): Program {
  return {
    file,
    args,
    cwd,
    env: harmlessEnvironment(),
    ...(user === null ? {} : { user: { uid: user.uid, gid: user.gid } }),
  };
}

/** Created in a temporary folder and renamed when complete: a kill starts it over. */
async function makeCluster(
  settings: ServiceSettings,
  data: string,
  user: SystemUser | null,
  signal: AbortSignal,
): Promise<void> {
  const fresh = `${data}.new`;
  const passwordFile = passwordFileOf(settings.folder);
  const programs = requirePostgres(null);
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { recursive: true, mode: 0o700 });
  writeFileSync(passwordFile, `${settings.password}\n`, { mode: 0o600 });
  try {
    if (user !== null) {
      requireTraversable(user, settings.folder);
      for (const path of [fresh, passwordFile]) chownSync(path, user.uid, user.gid);
    }
    const words = [
      "-D",
      fresh,
      "-U",
      NAME,
      `--pwfile=${passwordFile}`,
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      "--no-locale",
    ];
    await runProgram(programOf(join(programs, "initdb"), words, fresh, user), { signal });
    const single = programOf(join(programs, "postgres"), ["--single", "-D", fresh, "postgres"], fresh, user);
    await runProgram(single, { signal, input: `CREATE DATABASE ${NAME};\n` });
    renameSync(fresh, data);
  } finally {
    rmSync(passwordFile, { force: true });
  }
}

/** Opens our own folders just far enough; the parents belong to the operator. */
function requireTraversable(user: SystemUser, folder: string): void {
  for (const path of [folder, dirname(folder)]) if (existsSync(path)) chmodSync(path, 0o711);
  const closed = closedTo(user, join(folder, "data"));
  if (closed === null) return;
  throw new OrbError(
    "service_unavailable",
    `Postgres runs as the user ${user.name} when orb up runs as root, but that user has no access to ${closed}`,
    { hint: `Allow it with: chmod o+x ${closed}` },
  );
}

/**
 * Postgres refuses to start when the pid in its lock file is in use, and after a kill that pid may have been reused.
 * The file is deleted only when its process is known and no Postgres process is left in the folder, which would be
 * writing there.
 */
function clearStaleLock(data: string, { last }: ServiceSettings): void {
  const written = pidInLock(data);
  if (written === null || last === null || processesIn(realpathSync(data), "postgres").length > 0) return;
  if (written === last.pid && !isOutOfSight(last)) rmSync(lockFile(data));
}

const passwordFileOf = (folder: string) => join(folder, "password.initdb");

/** The version that created the data; null: no data yet. */
function versionOf(data: string): string | null {
  try {
    return readFileSync(join(data, "PG_VERSION"), "utf8").trim();
  } catch {
    return null;
  }
}

const lockFile = (data: string) => join(data, "postmaster.pid");

/** Its lines: pid, folder, start time, port. */
const LOCK_PORT = 3;

function lockLines(data: string): string[] | null {
  try {
    return readFileSync(lockFile(data), "utf8").split("\n");
  } catch {
    return null;
  }
}

function pidInLock(data: string): number | null {
  const [pid] = lockLines(data) ?? [];
  return pid === undefined ? null : Number(pid);
}
