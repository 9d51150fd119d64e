import { createHash } from "node:crypto";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { OrbError, systemCode } from "../base/errors.ts";

export function missingArtifact(): OrbError {
  return new OrbError("not_found", "there is no artifact with that hash");
}

/** Consumes the stream. */
export async function isContentOf(hash: string, bytes: Readable): Promise<boolean> {
  const actual = createHash("sha256");
  try {
    await pipeline(bytes, actual);
  } catch (error) {
    // Compressed data that is corrupt on disk fails to decompress.
    if (/^Z(?:STD)?_/.test(systemCode(error) ?? "")) return false;
    throw error;
  }
  return actual.digest("hex") === hash;
}
