import { laneOfSite } from "../../domain/lane.ts";
import type { QueueItem } from "../../domain/queue-item.ts";
import { siteOf } from "../../domain/url.ts";
import type { NewTask } from "../../store/port.ts";
import type { OrchestratorDeps } from "../deps.ts";
import { queueRun } from "./queue-run.ts";

export interface EnqueueReport {
  added: number;
  /** Were in the queue already; nothing about them changed. */
  existing: number;
}

/** A transaction of this many rows takes a few milliseconds: others hardly wait for it. */
const BATCH = 500;

/** Adds items that are not there yet. What it counts as added is on disk. */
export async function enqueueItems(deps: OrchestratorDeps, items: readonly QueueItem[]): Promise<EnqueueReport> {
  const run = await queueRun(deps);
  const report: EnqueueReport = { added: 0, existing: 0 };
  for (let start = 0; start < items.length; start += BATCH) {
    const tasks = items.slice(start, start + BATCH).map(toTask);
    const { added, existing, lanes } = await deps.store.enqueue(run.id, tasks, deps.clock.now());
    report.added += added;
    report.existing += existing;
    if (lanes.length > 0) await deps.wake(lanes);
  }
  return report;
}

function toTask(item: QueueItem): NewTask {
  const site = siteOf(item.url);
  return {
    key: item.artifactId,
    lane: laneOfSite(site),
    site,
    resolver: item.resolver,
    url: item.url,
    priority: item.priority,
    handler: item.handler,
    payload: item.payload,
  };
}
