import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { OrbError, systemCode } from "./base/errors.ts";
import { createSeal, type Seal } from "./base/seal.ts";
import type { Config } from "./config/options.ts";
import type { WorkerVerbs } from "./store/worker-port.ts";

/** Where the key lies that was made because none was configured. */
export function secretKeyFile(config: Config): string {
  return join(config.dataDir, "secret.key");
}

/**
 * Stored sessions and credentials are sealed under APP_SECRET_KEY. Without one, a key is made on first use and kept in
 * the data directory, readable by its owner alone: a copy of the database gives nothing away without it.
 */
export function openSeal(config: Config): Seal {
  let seal: Seal | null = null;
  const get = () => (seal ??= createSeal(config.secretKey ?? readOrMake(config)));
  return {
    close: (value, about) => get().close(value, about),
    open: (bytes, about) => get().open(bytes, about),
    mark: (text) => get().mark(text),
  };
}

/** Marked with a key, it tells whether two keys are the same, and nothing else. */
const MARKED = "the key of this deployment";

/** Where several machines work, each has to open what another has sealed. */
export async function agreesOnKey(store: Pick<WorkerVerbs, "agreeOnKey">, seal: Seal): Promise<boolean> {
  return store.agreeOnKey(keyMarkOf(seal));
}

export function keyMarkOf(seal: Seal): string {
  return seal.mark(MARKED);
}

export function keyDiffers(config: Config): OrbError {
  const which = config.secretKey === null ? `the key in ${secretKeyFile(config)}` : "APP_SECRET_KEY";
  const message = `${which} is not the one that the workers of this deployment have`;
  return new OrbError("secret_key_wrong", `${message}: none of them could open what this process would store`, {
    hint: "Set APP_SECRET_KEY to the same value on all machines. To change it, stop all workers first.",
    fields: [{ path: "APP_SECRET_KEY", message: "expected the same on all machines" }],
  });
}

/** So that the file is there after a power cut, and not only its content. */
function flushFolder(path: string): void {
  let folder: number;
  try {
    folder = openSync(path, "r");
  } catch {
    // Some systems do not open folders; they write names at once.
    return;
  }
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

function readOrMake(config: Config): string {
  const path = secretKeyFile(config);
  try {
    mkdirSync(config.dataDir, { recursive: true });
    // What is sealed under it reaches the disk with the database: a power cut must not take the key alone.
    writeFileSync(path, `${randomBytes(32).toString("hex")}\n`, { mode: 0o600, flag: "wx", flush: true });
    flushFolder(config.dataDir);
  } catch (error) {
    // Two processes may want it at once: the second takes the first one's.
    if (systemCode(error) !== "EEXIST")
      throw new OrbError("artifacts_unavailable", `the key for stored credentials cannot be written to ${path}`, {
        cause: error,
        hint: "Set APP_SECRET_KEY, or make the data directory writable.",
      });
  }
  const key = readFileSync(path, "utf8").trim();
  if (key.length >= 32) return key;
  throw new OrbError("secret_key_wrong", `${path} does not hold a whole key`, {
    hint: "Set APP_SECRET_KEY, or remove the file if no session was stored yet.",
  });
}
