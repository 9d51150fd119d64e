import type { RunRecord } from "../../store/ports/port.ts";
import type { OrchestratorDeps } from "../deps.ts";

/**
 * The queue is one permanent run: it ends whenever it is empty, and new items reopen it as another generation. So the
 * queue follows the same rules as every other run.
 */
export const QUEUE_ALIAS = "queue";

export async function queueRun({ store, clock }: OrchestratorDeps): Promise<RunRecord> {
  const existing = await store.runByAlias(QUEUE_ALIAS);
  if (existing !== null) return existing;
  return store.openRun({ kind: "queue", alias: QUEUE_ALIAS, maxAttempts: null, snapshot: {} }, clock.now());
}
