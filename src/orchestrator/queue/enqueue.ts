import { OrbError } from "../../base/errors.ts";
import type { Seal } from "../../base/seal.ts";
import { FetchFailure } from "../../domain/run/failure.ts";
import { laneOfSite } from "../../domain/lane/lane.ts";
import type { QueueItem } from "../../domain/lane/queue-item.ts";
import { siteOf } from "../../domain/text/url.ts";
import { sealAddress, sealAddresses } from "../../domain/text/sealed-text.ts";
import type { AddressPolicy } from "../../net/address.ts";
import { checkUrl } from "../../net/guard.ts";
import type { NewTask } from "../../store/ports/port.ts";
import type { OrchestratorDeps } from "../deps.ts";
import { queueRun } from "./queue-run.ts";

export interface EnqueueReport {
  added: number;
  /** Already in the queue and unchanged. */
  existing: number;
}

/** A transaction of this many rows takes a few milliseconds and hardly blocks others. */
const BATCH = 500;

export interface QueueDeps extends OrchestratorDeps {
  /** URLs are stored with their credentials sealed. */
  seal: Seal;
  /** Which URLs may be requested. */
  policy: AddressPolicy;
}

/** Adds new items. Items counted as added are committed. Throws `forbidden_target` without adding any. */
export async function enqueueItems(deps: QueueDeps, items: readonly QueueItem[]): Promise<EnqueueReport> {
  refuseForbidden(deps, items);
  const run = await queueRun(deps);
  const report: EnqueueReport = { added: 0, existing: 0 };
  for (let start = 0; start < items.length; start += BATCH) {
    const tasks = items.slice(start, start + BATCH).map((item) => toTask(deps.seal, item));
    const { added, existing, lanes } = await deps.store.enqueue(run.id, tasks, deps.clock.now());
    report.added += added;
    report.existing += existing;
    if (lanes.length > 0) await deps.wake(lanes);
  }
  return report;
}

/** A forbidden literal address is rejected at once. A user's handler may use the address differently. */
function refuseForbidden({ policy }: QueueDeps, items: readonly QueueItem[]): void {
  const fields = items.flatMap(({ url, handler }, index) => {
    const message = handler === null ? forbidden(url, policy) : null;
    return message === null ? [] : [{ path: `[${index}].url`, message }];
  });
  if (fields.length === 0) return;
  const list = fields.slice(0, MOST_NAMED).map(({ path, message }) => `${path}: ${message}`);
  throw new OrbError("forbidden_target", `the items cannot be enqueued: ${list.join("; ")}`, { fields });
}

const MOST_NAMED = 20;

function forbidden(url: string, policy: AddressPolicy): string | null {
  try {
    checkUrl(url, policy);
    return null;
  } catch (error) {
    if (error instanceof FetchFailure) return error.failure.message;
    throw error;
  }
}

function toTask(seal: Seal, item: QueueItem): NewTask {
  const site = siteOf(item.url);
  return {
    key: item.artifactId,
    lane: laneOfSite(site),
    site,
    resolver: item.concurrencyKey,
    url: sealAddress(seal, item.url),
    priority: item.priority,
    handler: item.handler,
    payload: sealAddresses(seal, item.payload),
  };
}
