import { isOrbError } from "../../base/errors.ts";
import { type RunState, RUN_STATES, TERMINAL_RUN_STATES } from "../../domain/run/states.ts";
import type { RunFilter } from "../../store/records/job-records.ts";
import type { RunRecord } from "../../store/ports/port.ts";
import type { AdmissionDeps } from "../crawls/turns.ts";
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
  /** Runs that match the filter and allow the action; counted up to `MOST_COUNTED`. */
  matched: number;
  done: number;
  /** How many could not be changed, and why the first one could not. */
  failed_count: number;
  failed: BulkFailure[];
  /** Runs left for the next call. */
  remaining: number;
  /** The run from which the next call continues, or the first that would change; null: none. */
  next: string | null;
}

/** Runs changed per call. */
export const MOST_AT_ONCE = 1000;
export const MOST_COUNTED = 10_000;
const MAX_REPORTED = 100;

/** The states that allow each action; runs in other states do not match. */
const FIT: Readonly<Record<BulkAction, readonly RunState[]>> = {
  cancel: RUN_STATES.filter((state) => !TERMINAL_RUN_STATES.includes(state)),
  pause: ["queued", "running"],
  resume: ["paused"],
  "retry-failed": ["failed", "partial"],
};

const ACTS: Readonly<Record<BulkAction, (deps: AdmissionDeps, run: RunRecord) => Promise<unknown>>> = {
  cancel: (deps, { id }) => cancelRun(deps, id),
  pause: (deps, { id }) => pauseRun(deps, id),
  resume: (deps, { id }) => resumeRun(deps, id),
  // Workflows call it recovery.
  "retry-failed": (deps, { id, kind }) => (kind === "workflow" ? beginRecovery(deps, id) : retryFailedTasks(deps, id)),
};

/**
 * Applies an action to all matching runs, newest first; with `dryRun` only counts them. A caller that continues `from`
 * the previous response sees no run twice, and none created in between.
 */
export async function changeRuns(
  deps: AdmissionDeps,
  action: BulkAction,
  filter: Omit<RunFilter, "after" | "limit">,
  { dryRun }: { dryRun: boolean },
): Promise<BulkOutcome> {
  const status = FIT[action].filter((state) => filter.status?.includes(state) ?? true);
  const none: BulkOutcome = { matched: 0, done: 0, failed_count: 0, failed: [], remaining: 0, next: null };
  if (status.length === 0) return none;
  const wanted = { ...filter, status };
  // Read before the first change; later runs do not count.
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
      // A run that ended or was deleted meanwhile does not stop the others; an unavailable database does.
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
