import { sleep } from "../../base/clock.ts";
import type { OrchestratorDeps } from "../deps.ts";
import { openItems, type QueueStats, queueStats } from "./stats.ts";

const LOOK_MS = 100;

/** Resolves when nothing is left to do, whichever process does it; an aborted signal ends the wait with what is. */
export async function queueDrained(deps: OrchestratorDeps, signal?: AbortSignal): Promise<QueueStats> {
  for (;;) {
    const stats = await queueStats(deps);
    if (openItems(stats) === 0 || signal?.aborted === true) return stats;
    await sleep(deps.clock, LOOK_MS, signal);
  }
}
