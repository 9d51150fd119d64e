/** Checks what an installation needs. Part of the composition root, because it covers everything. */
import { accessSync, constants, statfsSync } from "node:fs";
import { systemClock } from "../../base/clock.ts";
import { isOrbError, messageOf } from "../../base/errors.ts";
import { makeFolder } from "../../base/files/file-modes.ts";
import { mayBeAlive, ownIdentity } from "../../base/machine.ts";
import { clockApart } from "../../base/shared-clock.ts";
import type { DoctorCheck } from "../../cli/wiring.ts";
import type { LoadedConfig } from "../../config/load.ts";
import { type Client, openClient } from "../context.ts";
import type { Cluster } from "../cluster.ts";
import type { Config } from "../../config/options.ts";
import { examineExtras } from "./extras.ts";
import { openToOthers } from "../file-access.ts";
import { filesApart } from "../shared-means.ts";

const LOW_DISK_BYTES = 1024 ** 3;

export async function examine(load: () => LoadedConfig): Promise<DoctorCheck[]> {
  const checks: DoctorCheck[] = [];
  const add = (name: string, status: DoctorCheck["status"], what: string, fix: string | null = null) =>
    checks.push({ name, status, what, fix });
  const major = Number(process.versions.node.split(".")[0]);
  if (major >= 24) add("runtime", "ok", `Node ${process.versions.node}`);
  else
    add(
      "runtime",
      "problem",
      `Node ${process.versions.node} is too old`,
      "run npm ci in the clone, or install Node 24",
    );

  let loaded: LoadedConfig;
  try {
    loaded = load();
    const [warning] = loaded.warnings;
    if (warning === undefined) add("configuration", "ok", "all values are valid");
    else add("configuration", "warning", loaded.warnings.join("; "), "orb config shows the current values");
  } catch (error) {
    add("configuration", "problem", messageOf(error), "correct the variables named here; see docs/configuration.md");
    return checks;
  }
  const { config } = loaded;
  try {
    makeFolder(config.dataDir);
    accessSync(config.dataDir, constants.R_OK | constants.W_OK);
    add("data directory", "ok", config.dataDir);
    examineAccess(config, add);
    const { bavail, bsize } = statfsSync(config.dataDir);
    const free = bavail * bsize;
    const text = `${(free / 1024 ** 3).toFixed(1)} GiB free`;
    if (free > LOW_DISK_BYTES) add("disk", "ok", text);
    else add("disk", "warning", text, "free some space, or move APP_DATA_DIR");
  } catch (error) {
    add("data directory", "problem", messageOf(error), `make ${config.dataDir} writable, or set APP_DATA_DIR`);
  }
  try {
    await using client = await openClient(config);
    await client.store.probe();
    await client.artifacts.probe();
    examineDiskSpace(client, add);
    const apart = client.cluster === null ? null : await filesApart(client);
    if (apart === null) add("artifacts", "ok", client.artifacts.home);
    else add("artifacts", "warning", apart.what, apart.fix);
    add("database", "ok", await databaseLocation(config, client.cluster));
    if (client.cluster !== null) {
      await examineCluster(client, client.cluster, add);
      checks.push(...(await examineExtras(config, clockApart(client.clock, systemClock))));
      return checks;
    }
    const holder = await client.store.engineHolder();
    // A holder from an earlier boot is gone, whatever its lease says: the monotonic clock has restarted.
    if (holder === null || holder.boot !== ownIdentity().boot || !mayBeAlive(holder))
      add("engine", "ok", "no worker is running; start one with orb worker or orb serve");
    else if (holder.remainingMs < 0)
      add(
        "engine",
        "warning",
        `process ${holder.pid} has not renewed its lease`,
        "it is frozen or stuck; a standby takes over automatically",
      );
    else add("engine", "ok", `process ${holder.pid} is the worker`);
  } catch (error) {
    if (isOrbError(error, "artifacts_unavailable")) {
      add(
        "artifacts",
        "problem",
        messageOf(error),
        error.hint ?? "make the artifacts folder and what is in it writable",
      );
      return checks;
    }
    const fix =
      isOrbError(error) && error.hint !== undefined
        ? error.hint
        : "check the path in APP_DATABASE_URL, its permissions and the disk";
    if (isOrbError(error, "secret_key_wrong")) add("secret key", "problem", messageOf(error), fix);
    else add("database", "problem", messageOf(error), fix);
  }
  checks.push(...(await examineExtras(config)));
  return checks;
}

type Add = (name: string, status: DoctorCheck["status"], what: string, fix?: string | null) => void;

function examineAccess(config: Config, add: Add): void {
  const open = openToOthers(config);
  const named = (mode: number) => `0${mode.toString(8)}`;
  if (open.length === 0) {
    const who = config.fileGroup === null ? "its owner only" : `its owner and the group ${config.fileGroup}`;
    return add("file access", "ok", `stored data is readable by ${who}`);
  }
  add(
    "file access",
    "warning",
    `other users of this machine can read ${open.map(({ path, mode }) => `${path} (${named(mode)})`).join(", ")}`,
    `orb serve and orb worker correct the permissions at startup; or run: ${open.map(({ path, wanted }) => `chmod ${named(wanted)} ${path}`).join("; ")}`,
  );
}

/** As workers see it: including the disk of files stored elsewhere. */
function examineDiskSpace({ diskSpace }: Client, add: Add): void {
  try {
    diskSpace.check();
  } catch (error) {
    add(
      "disk space",
      "problem",
      messageOf(error),
      "free some space, or lower APP_MIN_FREE_DISK_MB; work waits until then",
    );
  }
}

async function databaseLocation({ database }: Config, cluster: Cluster | null): Promise<string> {
  if (database.kind === "sqlite" || cluster === null) return database.kind === "sqlite" ? database.path : database.kind;
  const { takeSchema } = await import("../../store/postgres/address.ts");
  const { url, schema } = takeSchema(cluster.databaseUrl);
  const { hostname, port, pathname } = new URL(url);
  return `Postgres, ${pathname.slice(1)} on ${hostname}${port === "" ? "" : `:${port}`}, schema ${schema}`;
}

const REDIS_MS = 3000;
const MOST_WORKERS = 1000;

async function examineCluster({ store, clock }: Client, { redisUrl }: Cluster, add: Add): Promise<void> {
  const { probeRedis } = await import("../../engine/bullmq/redis.ts");
  try {
    add("redis", "ok", `Redis ${await probeRedis(redisUrl, clock, REDIS_MS)}`);
  } catch (error) {
    const fix = isOrbError(error) ? error.hint : undefined;
    add("redis", "problem", messageOf(error), fix ?? "start it, or correct APP_REDIS_URL");
  }
  const workers = (await store.workers({ live: true, limit: MOST_WORKERS })).filter(({ state }) => state !== "lost");
  const engines = workers.filter(({ role }) => role === "engine");
  const machines = new Set(engines.map(({ machine }) => machine)).size;
  if (engines.length === 0) add("engine", "ok", "no worker is running; start one with orb worker or orb serve");
  else add("engine", "ok", `${engines.length} working, on ${machines} ${machines === 1 ? "machine" : "machines"}`);
}
