import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createFile } from "../../base/files/whole-file.ts";

/** The password of a managed service: created once, readable by the owner only. */
export function servicePassword(folder: string): string {
  const path = join(folder, "password");
  createFile(path, `${randomBytes(24).toString("hex")}\n`, { mode: 0o600 });
  return readFileSync(path, "utf8").trim();
}
