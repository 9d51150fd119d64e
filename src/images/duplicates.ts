/**
 * Near-duplicate removal.
 *
 * Images are processed best first: most pixels, then most bytes, then list order. An image within the distance of a kept
 * one is a duplicate of the nearest kept one; all others are kept. So a kept image is at least as good as its duplicates,
 * every duplicate is similar to the kept image itself (a chain of small steps cannot merge different images), no two kept
 * images are within the distance, and the result is deterministic.
 */
import { setImmediate } from "node:timers/promises";
import type { Clock } from "../base/clock.ts";
import { NearIndex } from "./near.ts";

export interface Candidate {
  /** 64-bit hash in hex; null: not comparable. */
  hash: string | null;
  pixels: number;
  bytes: number;
}

export interface NearDuplicate {
  /** Index of the kept candidate. */
  of: number;
  distance: number;
}

/** Time before yielding to the event loop. */
const SLICE_MS = 10;

interface SearchOptions {
  distance: number;
  keep: "largest" | "first";
  clock: Clock;
  signal?: AbortSignal;
}

/** For each candidate its duplicate entry; null: it is kept. */
export async function findNearDuplicates(
  candidates: readonly Candidate[],
  { distance, keep, clock, signal }: SearchOptions,
): Promise<(NearDuplicate | null)[]> {
  const duplicates = Array<NearDuplicate | null>(candidates.length).fill(null);
  const order = candidates.flatMap(({ hash }, at) => (hash === null ? [] : [at]));
  if (keep === "largest") order.sort((a, b) => betterFirst(candidates[a], candidates[b]) || a - b);
  const index = new NearIndex(distance);
  const kept: number[] = [];
  let since = clock.monotonic();
  for (const at of order) {
    if (clock.monotonic() - since >= SLICE_MS) {
      await setImmediate();
      since = clock.monotonic();
    }
    signal?.throwIfAborted();
    const hash = candidates[at]?.hash ?? "";
    const near = index.nearest(hash);
    if (near === null) kept[index.add(hash)] = at;
    else duplicates[at] = { of: kept[near.at] ?? at, distance: near.distance };
  }
  return duplicates;
}

function betterFirst(a: Candidate | undefined, b: Candidate | undefined): number {
  if (a === undefined || b === undefined) return 0;
  return b.pixels - a.pixels || b.bytes - a.bytes;
}
