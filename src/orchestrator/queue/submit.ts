import { OrbError } from "../../base/errors.ts";
import { parseQueueItem, type QueueItem } from "../../domain/lane/queue-item.ts";
import { type EnqueueReport, enqueueItems, type QueueDeps } from "./enqueue.ts";

/** An item in a file or a call: `{ artifact_id, url, concurrency_key?, priority?, payload?, handler? }`. */
export type SubmittedItem = Readonly<Record<string, unknown>>;

/** Validates all items, then adds the new ones. One invalid item rejects the whole call, with the field's path. */
export async function submitItems(deps: QueueDeps, items: readonly SubmittedItem[]): Promise<EnqueueReport> {
  const good: QueueItem[] = [];
  const fields = items.flatMap((item, index) => {
    const { ok, errors } = parseQueueItem(item);
    if (ok !== undefined) good.push(ok);
    return (errors ?? []).map(({ path, message }) => ({ path: `[${index}].${path}`, message }));
  });
  if (fields.length > 0) {
    const list = fields.map(({ path, message }) => `${path}: ${message}`).join("; ");
    throw new OrbError("input_invalid", `the items cannot be enqueued: ${list}`, { fields });
  }
  return enqueueItems(deps, good);
}
