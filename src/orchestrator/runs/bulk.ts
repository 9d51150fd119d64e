import { isOrbError } from "../../base/errors.ts";
import { type RunState, RUN_STATES, TERMINAL_RUN_STATES } from "../../domain/run/states.ts";
import type { RunFilter } from "../../store/records/job-records.ts";
import type { RunRecord } from "../../store/ports/port.ts";
import type { TurnDeps } from "../crawls/turns.ts";
import { beginRecovery } from "../workflows/control.ts";
import { cancelRun, pauseRun, resumeRun } from "./control.ts";
import { retryFailedTasks } from "./failed.ts";

export const BULK_ACTIONS = ["cancel", "pause", "resume", "retry-failed"] as const;
export type BulkAction = (typeof BULK_ACTIONS)[number];

export interface BulkFailure {
  run_id: string;
  code: string;
  detail: string;
}

/** The result of a bulk action. */
export interface BulkOutcome {
  /** Runs that fit the filter and to which this can be done; counted up to `MOST_COUNTED`. */
  matched: number;
  done: number;
  /** How many could not be changed, and why the first of them could not. */
  failed_count: number;
  failed: BulkFailure[];
  /** Those that one call leaves for the next one. */
  remaining: number;
  /** The run from which the next call continues, or the first that would change; null: there is none. */
  next: string | null;
}

/** Runs that one call changes. */
export const MOST_AT_ONCE = 1000;
export const MOST_COUNTED = 10_000;
const MAX_REPORTED = 100;

/** The states in which something can be done to a run: others are not meant. */
const FIT: Readonly<Record<BulkAction, readonly RunState[]>> = {
  cancel: RUN_STATES.filter((state) => !TERMINAL_RUN_STATES.includes(state)),
  pause: ["queued", "running"],
  resume: ["paused"],
  "retry-failed": ["failed", "partial"],
};

const ACTS: Readonly<Record<BulkAction, (deps: TurnDeps, run: RunRecord) => Promise<unknown>>> = {
  cancel: (deps, { id }) => cancelRun(deps, id),
  pause: (deps, { id }) => pauseRun(deps, id),
  resume: (deps, { id }) => resumeRun(deps, id),
  // Workflows have another name for it.
  "retry-failed": (deps, { id, kind }) => (kind === "workflow" ? beginRecovery(deps, id) : retryFailedTasks(deps, id)),
};

/**
 * Applies an action to all matching runs, the oldest last; with `dryRun` only counts them. A caller that continues
 * `from` the previous answer gets no run twice, and none that came in between.
 */
export async function changeRuns(
  deps: TurnDeps,
  action: BulkAction,
  filter: Omit<RunFilter, "after" | "limit">,
  { dryRun }: { dryRun: boolean },
): Promise<BulkOutcome> {
  const status = FIT[action].filter((state) => filter.status?.includes(state) ?? true);
  const none: BulkOutcome = { matched: 0, done: 0, failed_count: 0, failed: [], remaining: 0, next: null };
  if (status.length === 0) return none;
  const wanted = { ...filter, status };
  // Read before the first change; later runs are not counted.
  const found = await deps.store.runs({ ...wanted, limit: dryRun ? 1 : MOST_AT_ONCE + 1 });
  const [first] = found;
  if (first === undefined) return none;
  const matched = await deps.store.countRunsLike({ ...wanted, from: first.id, limit: MOST_COUNTED });
  if (dryRun) return { ...none, matched, remaining: matched, next: first.id };
  const runs = found.slice(0, MOST_AT_ONCE);
  const failed: BulkFailure[] = [];
  for (const run of runs) {
    try {
      await ACTS[action](deps, run);
    } catch (error) {
      // What ended or was removed in between is no reason to leave the others; a database that is away is.
      if (!isOrbError(error) || error.reaction === "wait" || error.reaction === "retry") throw error;
      failed.push({ run_id: run.id, code: error.code, detail: error.message });
    }
  }
  return {
    matched,
    done: runs.length - failed.length,
    failed_count: failed.length,
    failed: failed.slice(0, MAX_REPORTED),
    remaining: Math.max(0, matched - runs.length),
    next: found[MOST_AT_ONCE]?.id ?? null,
  };
}
