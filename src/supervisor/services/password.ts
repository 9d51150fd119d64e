import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createFile } from "../../base/files/whole-file.ts";

/** The password of a service of ours: made once, and readable by us alone. */
export function servicePassword(folder: string): string {
  const path = join(folder, "password");
  createFile(path, `${randomBytes(24).toString("hex")}\n`, { mode: 0o600 });
  return readFileSync(path, "utf8").trim();
}
