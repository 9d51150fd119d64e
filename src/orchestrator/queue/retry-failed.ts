import type { OrchestratorDeps } from "../deps.ts";
import { requeueFailed } from "../runs/failed.ts";
import { siteName } from "../sites/sites.ts";
import { QUEUE_ALIAS } from "./queue-run.ts";

/** Gives every failed item (of one site, if named) fresh attempts. */
export async function retryFailed(
  deps: OrchestratorDeps,
  options: { site?: string } = {},
): Promise<{ requeued: number }> {
  const run = await deps.store.runByAlias(QUEUE_ALIAS);
  if (run === null) return { requeued: 0 };
  const choice = options.site === undefined ? {} : { site: siteName(options.site) };
  return { requeued: await requeueFailed(deps, run.id, choice) };
}
