import type { CrawlDeps } from "../jobs/deps.ts";

export type TurnDeps = Pick<CrawlDeps, "store" | "clock" | "wake" | "maxConcurrentCrawls">;

/** Lets crawls begin or go on as long as there is room, and tells the engine. */
export async function admitCrawls(deps: TurnDeps): Promise<void> {
  const { lanes } = await deps.store.admitCrawls(deps.maxConcurrentCrawls, deps.clock.now());
  if (lanes.length > 0) await deps.wake(lanes);
}
