/** Logic of the workers page. */
import type { Worker } from "../../api/types.ts";

/** The stream sends workers without their active tasks. */
export type LiveWorker = Omit<Worker, "active">;

/** Merges streamed workers into the list; active tasks stay until they are loaded again. */
export function mergeWorkers(old: readonly Worker[], live: readonly LiveWorker[]): Worker[] {
  const known = new Map(old.map((worker) => [worker.id, worker]));
  const ids = new Set(live.map(({ id }) => id));
  const merged = live.map((worker): Worker => ({
    ...worker,
    active: worker.in_flight === 0 ? [] : (known.get(worker.id)?.active ?? []),
  }));
  return [...merged, ...old.filter(({ id }) => !ids.has(id))];
}

const ORDER: Record<Worker["state"], number> = { lost: 0, working: 1, draining: 2, drained: 3, stopped: 4 };

/** Workers with problems first; otherwise by machine and age, so that cards keep their position. */
export function orderWorkers(workers: readonly Worker[]): Worker[] {
  return workers.toSorted(
    (a, b) =>
      ORDER[a.state] - ORDER[b.state] ||
      a.machine.localeCompare(b.machine) ||
      a.started_at.localeCompare(b.started_at) ||
      a.pid - b.pid,
  );
}

/** A standby accepts no tasks until it takes over. */
export const standsBy = ({ role, state }: Pick<Worker, "role" | "state">) => role === "standby" && state === "working";

export function totalsOf(workers: readonly Worker[]) {
  const present = workers.filter(({ state }) => state !== "lost" && state !== "stopped");
  const sum = (of: (worker: Worker) => number) => present.reduce((total, worker) => total + of(worker), 0);
  return {
    working: workers.filter((worker) => worker.state === "working" && !standsBy(worker)).length,
    standby: workers.filter(standsBy).length,
    lost: workers.filter(({ state }) => state === "lost").length,
    inFlight: sum(({ in_flight }) => in_flight),
    capacity: sum((worker) => (standsBy(worker) ? 0 : worker.max_workers)),
    throughput: sum(({ throughput }) => throughput),
    memory: sum(({ memory }) => memory),
  };
}
