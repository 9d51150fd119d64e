// Finds a Redis and a Postgres for the tests of `orb up`, or installs them. Plain JavaScript, for Node 20 and without packages.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { canInstall, findCommand, installPackages, isExecutable, updateLists, withLock } from "./apt.mjs";

const POSTGRES_FOLDERS = "/usr/lib/postgresql";

export function hasServices(env = process.env) {
  return findCommand("redis-server", env) !== undefined && hasPostgres(env);
}

function hasPostgres(env) {
  if (findCommand("postgres", env) !== undefined && findCommand("initdb", env) !== undefined) return true;
  try {
    return readdirSync(POSTGRES_FOLDERS).some((version) =>
      isExecutable(join(POSTGRES_FOLDERS, version, "bin", "initdb")),
    );
  } catch {
    return false;
  }
}

/** Whether they are available; as root with apt it installs them. Idempotent, also concurrently. */
export async function ensureServices(env = process.env) {
  if (hasServices(env)) return true;
  if (!canInstall(env)) return false;
  return withLock("services", async () => {
    const names = ["redis-server", "postgresql"];
    if (!hasServices(env)) {
      process.stdout.write(`Installing ${names.join(" and ")} for the tests of orb up …\n`);
      if (!(await installPackages(names, env)) && (await updateLists(env))) await installPackages(names, env);
    }
    return hasServices(env);
  });
}
