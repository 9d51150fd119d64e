/**
 * Which of many pictures are kept when each is to be there once.
 *
 * The best comes first: most pixels, then most bytes, then the place in the list. Going through them in this order, a
 * picture that is within the distance of one that is kept is a duplicate of the nearest such one; all others are kept. So a
 * kept picture is at least as good as those that it stands for, each of them looks like it (and not merely like
 * another that does: a chain of small steps cannot swallow different pictures), no two kept ones are within the distance,
 * and nothing depends on time.
 */
import { setImmediate } from "node:timers/promises";
import type { Clock } from "../base/clock.ts";
import { NearIndex } from "./near.ts";

export interface Candidate {
  /** 64-bit hash in hex; null: it has no likeness to others. */
  hash: string | null;
  pixels: number;
  bytes: number;
}

export interface NearDuplicate {
  /** Places in the list. */
  of: number;
  distance: number;
}

/** So long pictures are compared before others get their turn; how many that are depends on how many there are. */
const SLICE_MS = 10;

interface SearchOptions {
  distance: number;
  keep: "largest" | "first";
  clock: Clock;
  signal?: AbortSignal;
}

/** For each candidate what it is a duplicate of; null: it is kept. */
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
