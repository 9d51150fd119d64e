/** Deletes runs, one or many, and exempts runs from retention. */
import { setImmediate } from "node:timers/promises";
import { asProgram } from "../../domain/access/caller.ts";
import { OrbError } from "../../base/errors.ts";
import { isoOf, isoOrNull } from "../../base/iso.ts";
import type { RunState } from "../../domain/run/states.ts";
import type { DeletionFilter, RunDeletion } from "../../store/ports/retention-port.ts";
import type { RunRecord, Store } from "../../store/ports/port.ts";
import type { OrchestratorDeps } from "../deps.ts";
import { cancelUnlessEnded, requireRun } from "./control.ts";

export type { DeletionFilter } from "../../store/ports/retention-port.ts";

/**
 * Rejected while it has not ended, unless it is cancelled first. The run is hidden when this returns; rows and files
 * are deleted afterwards.
 */
export async function deleteRun(deps: OrchestratorDeps, id: string, options: { force: boolean }): Promise<void> {
  const run = await requireRun(deps, id);
  if (options.force && run.alias === null && run.parent === null) await cancelUnlessEnded(deps, id);
  await deps.store.deleteRun(id, deps.clock.now());
  await deps.wake(null);
}

/** Exempts the run from retention; `keep` false ends that. Idempotent. */
export async function keepRun(deps: OrchestratorDeps, id: string, keep: boolean): Promise<RunRecord> {
  await requireRun(deps, id);
  await deps.store.keepRun(id, keep);
  return requireRun(deps, id);
}

/** A bulk deletion as the API returns it. */
export interface DeletionView {
  id: string;
  status: "running" | "completed";
  filter: {
    status?: readonly RunState[];
    kind?: string;
    site?: string;
    job_id?: string;
    tag?: string;
    q?: string;
    since?: string;
    until?: string;
    ended_before?: string;
    run_ids?: readonly string[];
  };
  matched: number;
  deleted: number;
  /** Hidden runs whose rows are still being deleted, of all deletions. */
  removing: number;
  created_at: string;
  finished_at: string | null;
}

const MOST_REMOVING = 10_000;

async function viewOf({ store }: Pick<OrchestratorDeps, "store">, deletion: RunDeletion): Promise<DeletionView> {
  const { id, filter, matched, deleted, createdAt, finishedAt } = deletion;
  return {
    id,
    status: finishedAt === null ? "running" : "completed",
    filter: shownFilter(filter),
    // Runs that ended meanwhile are deleted as well.
    matched: Math.max(matched, deleted),
    deleted,
    removing: await store.countRemoving(MOST_REMOVING),
    created_at: isoOf(createdAt),
    finished_at: isoOrNull(finishedAt),
  };
}

function shownFilter({ jobId, ids, since, until, endedBefore, ...rest }: DeletionFilter): DeletionView["filter"] {
  const { includeKept: _, ...plain } = rest;
  return {
    ...plain,
    ...(jobId === undefined ? {} : { job_id: jobId }),
    ...(ids === undefined ? {} : { run_ids: ids }),
    ...(since === undefined ? {} : { since: isoOf(since) }),
    ...(until === undefined ? {} : { until: isoOf(until) }),
    ...(endedBefore === undefined ? {} : { ended_before: isoOf(endedBefore) }),
  };
}

/** Starts a deletion of all matching runs; it continues in the background, and after a crash. */
export async function deleteRuns(deps: OrchestratorDeps, filter: DeletionFilter): Promise<DeletionView> {
  const deletion = await deps.store.createDeletion(filter, deps.clock.now());
  executeDeletions(deps);
  return viewOf(deps, deletion);
}

export function countDeletable({ store }: OrchestratorDeps, filter: DeletionFilter): Promise<number> {
  return store.countDeletable(filter);
}

export async function showDeletion(deps: OrchestratorDeps, id: string): Promise<DeletionView> {
  const found = await deps.store.deletion(id);
  if (found === null) throw new OrbError("not_found", `there is no deletion with the id ${id}`);
  return viewOf(deps, found);
}

const MOST_SHOWN = 100;

export async function listDeletions(deps: OrchestratorDeps): Promise<DeletionView[]> {
  const list = await deps.store.deletions(MOST_SHOWN);
  return Promise.all(list.map((deletion) => viewOf(deps, deletion)));
}

/** Runs hidden per transaction. */
const AT_ONCE = 100;
const busy = new WeakSet<Store>();

/** Deletes in this process, which may have no engine; the engine does the rest. */
export function executeDeletions({ store, clock }: OrchestratorDeps): void {
  if (busy.has(store)) return;
  busy.add(store);
  const work = async () => {
    while (await store.advanceDeletions(AT_ONCE, clock.now())) await setImmediate();
  };
  // The store may be closed or the database unavailable: the engine continues later. It may carry out what others began.
  asProgram(work)
    .catch(() => {})
    .finally(() => busy.delete(store));
}
