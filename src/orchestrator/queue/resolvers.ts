import { resolverKey } from "../../domain/lane/lane.ts";
import type { OrchestratorDeps } from "../deps.ts";

/** The live limit of a concurrency key; null: the configured one applies, or none. */
export async function resolverLimit({ store }: OrchestratorDeps, name: string): Promise<number | null> {
  return store.budgetCap(resolverKey(name));
}

/** Applies to running work; null restores APP_MAX_PER_CONCURRENCY_KEY. */
export async function setResolverLimit(deps: OrchestratorDeps, name: string, limit: number | null): Promise<void> {
  await deps.store.setBudgetCap(resolverKey(name), limit);
  await deps.wake(null);
}
