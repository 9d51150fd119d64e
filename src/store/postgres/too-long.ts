import type { Request, WireValue } from "./sync-channel.ts";

/**
 * `pg` encodes all values of a statement into one string, and reports a string that is too long only after the rest of
 * the transaction, with its COMMIT, is on its way. Escaped, this limit is half of the longest string.
 */
const MAX_CHARACTERS = 2 ** 27;

export function refuseTooLong(requests: readonly Request[]): void {
  for (const request of requests)
    if (request.values.reduce((sum: number, value) => sum + lengthOf(value), 0) > MAX_CHARACTERS)
      throw new Error("this is too much data for one write");
}

function lengthOf(value: WireValue): number {
  if (typeof value === "string") return value.length;
  // Hexadecimal digits within an array.
  if (value instanceof Uint8Array) return 2 * value.byteLength;
  return Array.isArray(value) ? value.reduce((sum: number, element: WireValue) => sum + lengthOf(element), 0) : 20;
}
