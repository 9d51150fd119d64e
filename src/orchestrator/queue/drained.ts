import { sleep } from "../../base/clock.ts";
import type { OrchestratorDeps } from "../deps.ts";
import { openItems, queueOverview, type QueueStats, queueStats } from "./stats.ts";

const LOOK_MS = 100;

/**
 * Resolves when the queue is empty, whichever process works on it; an aborted signal resolves with the current state.
 */
export async function queueDrained(deps: OrchestratorDeps, signal?: AbortSignal): Promise<QueueStats> {
  for (;;) {
    const begun = deps.clock.monotonic();
    const overview = await queueOverview(deps, 0);
    if (openItems(overview) === 0 || signal?.aborted === true) return queueStats(deps);
    await sleep(deps.clock, restAfter(deps.clock.monotonic() - begun), signal);
  }
}

/** Polling takes at most a tenth of the time: with 100,000 sites one poll is expensive. */
export function restAfter(costMs: number): number {
  return Math.max(LOOK_MS, 10 * costMs);
}
