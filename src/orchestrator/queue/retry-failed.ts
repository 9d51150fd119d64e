import { laneOfSite } from "../../domain/lane.ts";
import type { OrchestratorDeps } from "../deps.ts";
import { siteName } from "../sites.ts";
import { QUEUE_ALIAS } from "./queue-run.ts";

const CHUNK = 1000;

/** Gives every failed item (of one site, if named) fresh attempts. */
export async function retryFailed(
  deps: OrchestratorDeps,
  options: { site?: string } = {},
): Promise<{ requeued: number }> {
  const run = await deps.store.runByAlias(QUEUE_ALIAS);
  if (run === null) return { requeued: 0 };
  const lane = options.site === undefined ? {} : { lane: laneOfSite(siteName(options.site)) };
  const wanted = (await deps.store.counts(run.id))
    .filter((row) => lane.lane === undefined || row.lane === lane.lane)
    .reduce((sum, row) => sum + row.counts.failed, 0);
  let requeued = 0;
  // What fails again while we are at it waits for the next call, so the number is fixed at the start.
  while (requeued < wanted) {
    const part = await deps.store.retryFailed(
      run.id,
      { ...lane, limit: Math.min(CHUNK, wanted - requeued) },
      deps.clock.now(),
    );
    if (part.requeued === 0) break;
    requeued += part.requeued;
    await deps.wake(part.lanes);
  }
  return { requeued };
}
