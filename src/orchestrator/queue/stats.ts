import { NO_TASKS, type TaskCounts } from "../../domain/run/run-end.ts";
import { QUEUE_STATES, type QueueState, queueStateOf, TASK_STATES } from "../../domain/run/states.ts";
import type { SiteCounts } from "../../store/ports/port.ts";
import type { OrchestratorDeps } from "../deps.ts";
import { QUEUE_ALIAS } from "./queue-run.ts";

export type QueueCounts = Record<QueueState, number> & { total: number };

export interface QueueStats extends QueueCounts {
  lanes: ({ lane: string } & QueueCounts)[];
}

function toQueueCounts(counts: TaskCounts): QueueCounts {
  const result = { ...Object.fromEntries(QUEUE_STATES.map((name) => [name, 0])), total: 0 } as QueueCounts;
  for (const state of TASK_STATES) {
    result[queueStateOf(state)] += counts[state];
    result.total += counts[state];
  }
  return result;
}

function toLane({ site, lane, counts }: SiteCounts): QueueStats["lanes"][number] {
  return { lane: site ?? lane, ...toQueueCounts(counts) };
}

export async function queueStats({ store }: OrchestratorDeps): Promise<QueueStats> {
  const run = await store.runByAlias(QUEUE_ALIAS);
  const lanes = run === null ? [] : (await store.counts(run.id)).map(toLane);
  const sum = (name: keyof QueueCounts) => lanes.reduce((total, lane) => total + lane[name], 0);
  return {
    queued: sum("queued"),
    in_progress: sum("in_progress"),
    done: sum("done"),
    skipped: sum("skipped"),
    error: sum("error"),
    total: sum("total"),
    lanes,
  };
}

/** The frequently changing counts; `lanes` holds only some of the lanes with work. */
export async function queueOverview({ store }: OrchestratorDeps, mostLanes: number): Promise<QueueStats> {
  const run = await store.runByAlias(QUEUE_ALIAS);
  if (run === null) return { ...toQueueCounts(NO_TASKS), lanes: [] };
  const { totals, open } = await store.overview(run.id, mostLanes);
  return {
    ...toQueueCounts(totals),
    lanes: open.map(toLane),
  };
}

/** Items that have not ended. */
export function openItems(stats: QueueCounts): number {
  return stats.queued + stats.in_progress;
}
