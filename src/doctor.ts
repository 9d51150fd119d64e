/** Looks at what an installation needs. Part of the composition root, because it looks at everything. */
import { accessSync, constants, mkdirSync, statfsSync } from "node:fs";
import { isOrbError, messageOf } from "./base/errors.ts";
import { mayBeAlive, ownIdentity } from "./base/machine.ts";
import type { DoctorCheck } from "./cli/wiring.ts";
import type { LoadedConfig } from "./config/load.ts";
import { openClient } from "./client.ts";
import { dirname } from "node:path";
import { examineExtras } from "./doctor-extras.ts";

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
    if (warning === undefined) add("configuration", "ok", "every value can be used");
    else add("configuration", "warning", loaded.warnings.join("; "), "orb config shows what is in force");
  } catch (error) {
    add("configuration", "problem", messageOf(error), "correct the variables named here; see docs/configuration.md");
    return checks;
  }
  const { config } = loaded;
  try {
    mkdirSync(config.dataDir, { recursive: true });
    accessSync(config.dataDir, constants.R_OK | constants.W_OK);
    add("data directory", "ok", config.dataDir);
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
    client.artifacts.probe();
    add("artifacts", "ok", dirname(dirname(dirname(client.pathOf("0".repeat(64))))));
    add("database", "ok", config.database.kind === "sqlite" ? config.database.path : config.database.kind);
    const holder = await client.store.engineHolder();
    // One of an earlier boot is gone, whatever its lease says: the clock that it was measured by started anew.
    if (holder === null || holder.boot !== ownIdentity().boot || !mayBeAlive(holder))
      add("engine", "ok", "no process is working now; orb worker or orb serve starts one");
    else if (holder.remainingMs < 0)
      add(
        "engine",
        "warning",
        `process ${holder.pid} has not renewed its lease`,
        "it is frozen or stuck; a standby takes over by itself",
      );
    else add("engine", "ok", `process ${holder.pid} is working`);
  } catch (error) {
    if (isOrbError(error, "artifacts_unavailable")) {
      add("artifacts", "problem", messageOf(error), "make the artifacts folder and what is in it writable");
      return checks;
    }
    const fix =
      isOrbError(error) && error.hint !== undefined
        ? error.hint
        : "check the path in APP_DATABASE_URL, its permissions and the disk";
    add("database", "problem", messageOf(error), fix);
  }
  checks.push(...(await examineExtras(config)));
  return checks;
}
