import { isDiskFull, OrbError } from "../base/errors.ts";

/** A full disk is a state of the machine that work waits for, not a fault of the page that met it. */
export function asDiskError(error: unknown): unknown {
  if (error instanceof OrbError || !isDiskFull(error)) return error;
  return new OrbError("disk_full", "there is no room left for artifacts", { cause: error });
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
