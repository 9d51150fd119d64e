import type { CrawlDeps } from "../jobs/deps.ts";

export type AdmissionDeps = Pick<CrawlDeps, "store" | "clock" | "wake" | "maxConcurrentCrawls">;

/** Starts or resumes crawls while the limit allows, and wakes the engine. */
export async function admitCrawls(deps: AdmissionDeps): Promise<void> {
  const { lanes } = await deps.store.admitCrawls(deps.maxConcurrentCrawls, deps.clock.now());
  if (lanes.length > 0) await deps.wake(lanes);
}
