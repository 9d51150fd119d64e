/** A check of all proxies: a run whose tasks are chunks of them. */

/** Handler name of proxy checks; the `@` keeps user handlers from having it. */
export const PROXY_CHECK_HANDLER = "@proxy_check";
/** It belongs to no site. */
export const PROXIES_LANE = "proxies";
export const PROXIES_PER_CHUNK = 25;
export const CHECKED_AT_ONCE = 8;

/** Payload of a check task. */
export interface ChunkPayload {
  ids: string[];
}

/** Result of a check task. */
export interface ChunkDetail {
  checked: number;
  usable: number;
}

/**
 * Which enabled proxies a check covers. `due`: all but resting ones. `wanting`: those that may become usable by it, which
 * are new or have rested.
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

/** Time limit of a check: the time it takes if no proxy answers, plus an allowance. */
export function refreshTimeLimit(chunks: number, chunksAtOnce: number, timeoutMs: number): number {
  const rounds = Math.ceil(chunks / chunksAtOnce);
  const chunkMs = Math.ceil(PROXIES_PER_CHUNK / CHECKED_AT_ONCE) * timeoutMs;
  return Math.max(SHORTEST_MS, Math.round(rounds * chunkMs * ALLOWANCE));
}
