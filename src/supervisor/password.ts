import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemCode } from "../base/errors.ts";

/** The password of a service of ours: made once, and readable by us alone. */
export function servicePassword(folder: string): string {
  const path = join(folder, "password");
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
  }
  mkdirSync(folder, { recursive: true });
  const password = randomBytes(24).toString("hex");
  writeFileSync(`${path}.new`, `${password}\n`, { mode: 0o600, flush: true });
  renameSync(`${path}.new`, path);
  return password;
}
