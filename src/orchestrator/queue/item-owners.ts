import { isoOf } from "../../base/iso.ts";
import type { TaskRecord } from "../../store/ports/port.ts";
import type { OrchestratorDeps } from "../deps.ts";
import { isSame } from "../workers/worker-availability.ts";

/** Which worker holds an item in progress, and until when. */
export interface ItemOwner {
  /** Null: not in the registry, or no longer. */
  worker_id: string | null;
  machine: string | null;
  pid: number | null;
  lease_expires_at: string;
}

const MOST_WORKERS = 1000;

/** Owners of the lanes of running tasks, by lane. */
export async function ownersOf(
  deps: OrchestratorDeps,
  tasks: readonly TaskRecord[],
): Promise<ReadonlyMap<string, ItemOwner>> {
  return ownersOfLanes(deps, [...new Set(tasks.flatMap(({ state, lane }) => (state === "running" ? [lane] : [])))]);
}

export async function ownersOfLanes(
  { store, clock }: OrchestratorDeps,
  lanes: readonly string[],
): Promise<ReadonlyMap<string, ItemOwner>> {
  if (lanes.length === 0) return new Map();
  const leases = await store.laneLeases(lanes);
  const workers = leases.length === 0 ? [] : await store.workers({ live: true, limit: MOST_WORKERS });
  const now = clock.now();
  return new Map(
    leases.map(({ lane, identity, remainingMs }) => {
      const worker = workers.find((one) => identity !== null && isSame(one.identity, identity));
      const owner = {
        worker_id: worker?.id ?? null,
        machine: worker?.machine ?? null,
        pid: identity?.pid ?? null,
        lease_expires_at: isoOf(now + remainingMs),
      };
      return [lane, owner];
    }),
  );
}
