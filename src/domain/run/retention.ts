/** How long runs are kept by default. */
export interface RetentionRules {
  /** Temporary runs, after their end. */
  temporaryMs: number;
  /** Ended runs per job, for jobs that say nothing themselves; 0: all of them. */
  keepRuns: number;
  /** Days after the end of a run, where its job says nothing; 0: for ever. */
  keepDays: number;
}

export interface KeptRun {
  parent: unknown;
  alias: string | null;
  jobId: string | null;
  jobDeletedAt: number | null;
  finishedAt: number | null;
  kept: boolean;
  temporary: boolean;
  jobKeepRuns: number | null;
  jobKeepDays: number | null;
}

interface RunExpiry {
  /** When it is removed; null: no time is set. */
  expiresAt: number | null;
  /** Removed when its job has this many newer ended runs; null: no such limit. */
  keepRuns: number | null;
}

const DAY_MS = 86_400_000;
const STAYS: RunExpiry = { expiresAt: null, keepRuns: null };

/** Child runs are removed with their workflow; the queue's run is never removed. */
export function expiryOf(run: KeptRun, rules: RetentionRules): RunExpiry {
  if (run.kept || run.finishedAt === null || run.parent !== null || run.alias !== null) return STAYS;
  const isOfJob = run.jobId !== null && run.jobDeletedAt === null;
  if (run.jobId === null && run.temporary) return { ...STAYS, expiresAt: run.finishedAt + rules.temporaryMs };
  const days = (isOfJob ? run.jobKeepDays : null) ?? rules.keepDays;
  const from = Math.max(run.finishedAt, run.jobDeletedAt ?? 0);
  const count = isOfJob ? (run.jobKeepRuns ?? rules.keepRuns) : 0;
  return { expiresAt: days === 0 ? null : from + days * DAY_MS, keepRuns: count === 0 ? null : count };
}

/** Maximum disk usage of stored data. */
export interface DiskBudget {
  /** 0: there is no budget. */
  bytes: number;
  /** Beyond it: only alert, or remove the oldest runs. */
  action: "warn" | "remove";
}

/** Warn from this fraction of the budget on. */
export const NEAR_BUDGET = 0.8;

/** Which files are moved to the archive folder in the background. */
export interface ArchivePolicy {
  /** Since they were stored, or found again; 0: none is moved. */
  afterMs: number;
  /** Smaller ones stay where they are. */
  minBytes: number;
}
