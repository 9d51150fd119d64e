/** A check of all proxies: a run whose tasks are chunks of them. */

/** The name under which the worker knows how proxies are checked; no handler of a user can have it. */
export const PROXY_CHECK_HANDLER = "@proxy_check";
/** It belongs to no site. */
export const PROXIES_LANE = "proxies";
export const PROXIES_PER_CHUNK = 25;
export const CHECKED_AT_ONCE = 8;

/** What a task of such a run has to do. */
export interface ChunkPayload {
  ids: string[];
}

/** What it found; stands on the task. */
export interface ChunkDetail {
  checked: number;
  usable: number;
}

/**
 * Which proxies a check looks at, of those that are not switched off. `due`: all but those that have failed and still
 * rest. `wanting`: those that may become usable by it, which are new or have rested.
 */
export type CheckedProxies = "all" | "due" | "wanting";

export interface RefreshSnapshot {
  which: CheckedProxies;
  total: number;
  chunks: number;
  /** `reachable`: nothing was fetched through the proxies, because no address is configured for that. */
  checks: "fetch" | "reachable";
}

const SHORTEST_MS = 30_000;
/** How much longer than computed it may take, because the machine has other work, too. */
const ALLOWANCE = 1.5;

/** How long a check may run: as long as it takes if no proxy answers at all, and some more. */
export function refreshTimeLimit(chunks: number, chunksAtOnce: number, timeoutMs: number): number {
  const rounds = Math.ceil(chunks / chunksAtOnce);
  const chunkMs = Math.ceil(PROXIES_PER_CHUNK / CHECKED_AT_ONCE) * timeoutMs;
  return Math.max(SHORTEST_MS, Math.round(rounds * chunkMs * ALLOWANCE));
}
