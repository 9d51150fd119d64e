import { randomBytes } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { OrbError } from "../base/errors.ts";
import { createSeal, type Seal } from "../base/seal.ts";
import { createFile, writeDraft } from "../base/files/whole-file.ts";
import type { Config } from "../config/options.ts";
import type { WorkerStore } from "../store/ports/worker-port.ts";

/** The generated key, if none is configured. */
export function secretKeyFile(config: Config): string {
  return join(config.dataDir, "secret.key");
}

/**
 * Stored sessions and credentials are sealed under APP_SECRET_KEY. Without one, a key is generated on first use and
 * kept in the data directory, readable by its owner only: a copy of the database reveals nothing without it.
 */
export function openSeal(config: Config, { fillEmptyFile = false } = {}): Seal {
  let seal: Seal | null = null;
  const get = () => (seal ??= createSeal(config.secretKey ?? readOrCreateKey(config, fillEmptyFile)));
  return {
    close: (value, about) => get().close(value, about),
    open: (bytes, about) => get().open(bytes, about),
    mark: (text) => get().mark(text),
  };
}

/**
 * Like `openSeal`. Versions up to 0.1.0 could be killed between creating the key file and filling it, and then rejected
 * everything sealed. An empty file is filled if the store proves that no key was ever used.
 */
export async function openSealOf(config: Config, store: Pick<WorkerStore, "hasSealed">): Promise<Seal> {
  const isEmpty = config.secretKey === null && statSync(secretKeyFile(config), { throwIfNoEntry: false })?.size === 0;
  return openSeal(config, { fillEmptyFile: isEmpty && !(await store.hasSealed()) });
}

/** Its MAC under a key shows whether two keys are equal, and nothing else. */
const MARKED = "the key of this deployment";

/** With several machines, each must open what another has sealed. */
export async function agreesOnKey(store: Pick<WorkerStore, "agreeOnKey">, seal: Seal): Promise<boolean> {
  return store.agreeOnKey(keyMarkOf(seal));
}

export function keyMarkOf(seal: Seal): string {
  return seal.mark(MARKED);
}

export function keyDiffers(config: Config): OrbError {
  const which = config.secretKey === null ? `the key in ${secretKeyFile(config)}` : "APP_SECRET_KEY";
  const message = `${which} differs from the key of the workers of this deployment`;
  return new OrbError("secret_key_wrong", `${message}, so they could not decrypt what this process stores`, {
    hint: "Set APP_SECRET_KEY to the same value on all machines. To change it, stop all workers first.",
    fields: [{ path: "APP_SECRET_KEY", message: "expected the same value on all machines" }],
  });
}

function readOrCreateKey(config: Config, fillEmptyFile: boolean): string {
  const path = secretKeyFile(config);
  const fresh = `${randomBytes(32).toString("hex")}\n`;
  try {
    createFile(path, fresh, { mode: 0o600 });
    // Several processes may append at once; each reads the first line, so they agree without a lock.
    if (fillEmptyFile && statSync(path).size === 0) writeDraft(path, fresh, 0o600, "a");
  } catch (error) {
    throw new OrbError("artifacts_unavailable", `the key for stored credentials cannot be written to ${path}`, {
      cause: error,
      hint: "Set APP_SECRET_KEY, or make the data directory writable.",
    });
  }
  const [key = ""] = readFileSync(path, "utf8").trim().split("\n");
  if (key.length >= 32) return key;
  throw new OrbError("secret_key_wrong", `${path} is empty or incomplete: it must contain a key`, {
    hint: "Restore the file from a backup or set APP_SECRET_KEY. Remove the file only if no credentials were stored yet.",
  });
}
