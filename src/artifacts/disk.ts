import { isDiskFull, OrbError, systemCode } from "../base/errors.ts";

const UNWRITABLE: ReadonlySet<string> = new Set(["EACCES", "EPERM", "EROFS"]);

/** A full disk is a state of the machine that work waits for, not a failure of the page that hit it. */
export function asDiskError(error: unknown): unknown {
  if (error instanceof OrbError) return error;
  if (isDiskFull(error)) return new OrbError("disk_full", "the disk for artifacts is full", { cause: error });
  if (UNWRITABLE.has(systemCode(error) ?? "")) {
    return new OrbError(
      "artifacts_unavailable",
      "the artifact folder cannot be written: it is read-only or belongs to another user",
      {
        cause: error,
      },
    );
  }
  return error;
}

export function onDisk<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw asDiskError(error);
  }
}

export async function onDiskAsync<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asDiskError(error);
  }
}
