import type { CrawlDeps } from "../jobs/deps.ts";

export type TurnDeps = Pick<CrawlDeps, "store" | "clock" | "wake" | "maxConcurrentCrawls">;

/** Starts or resumes crawls while there is room, and notifies the engine. */
export async function admitCrawls(deps: TurnDeps): Promise<void> {
  const { lanes } = await deps.store.admitCrawls(deps.maxConcurrentCrawls, deps.clock.now());
  if (lanes.length > 0) await deps.wake(lanes);
}
