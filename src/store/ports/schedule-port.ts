/** Store methods and records for schedules and their occurrences. */
import type { ScheduledTime, OccurrenceOutcome } from "../../domain/run/schedule-occurrences.ts";
import type { RunState } from "../../domain/run/states.ts";
import type { JobRecord } from "../records/job-records.ts";
import type { NewRun, NewTask, RunRecord } from "../records/run-records.ts";

export interface ScheduleOccurrence {
  jobId: string;
  /** The scheduled time, without jitter. */
  at: number;
  /** For consecutive missed times: the last one, and their number. */
  until: number;
  count: number;
  outcome: OccurrenceOutcome;
  runId: string | null;
  message: string | null;
  notedAt: number;
}

/** Scheduled times without a run. */
export type SkippedOccurrences = Pick<ScheduleOccurrence, "at" | "until" | "count" | "message"> & {
  outcome: "missed" | "refused";
};

/** A scheduled time of a job whose run is due. */
export interface DueOccurrence {
  jobId: string;
  at: number;
  /** The next time; null: none. */
  next: ScheduledTime | null;
  /** Missed times before it; the job's stored next time is then the first of them. */
  missed?: SkippedOccurrences;
  /** If a run of the job is still active: skip the new one, queue it, or cancel the active one. */
  overlap: "skip" | "queue" | "cancel";
}

export type OccurrenceStart<T> =
  | { kind: "started"; created: T; lanes: string[]; cancelled: string[] }
  /** Skipped because of this run; `waiting`: the queue behind it is full. */
  | { kind: "blocked"; by: { id: string; status: RunState }; waiting: boolean }
  /** Another process handled the occurrence. */
  | { kind: "gone" };

/** How many runs of a job with `queue` may wait for the previous one. */
export const MOST_QUEUED = 10;

export interface ScheduleStore {
  /** Due jobs, longest due first; `after` is the last one of the previous page, as it was then. */
  dueJobs(now: number, limit: number, after?: Pick<JobRecord, "id" | "nextAt">): Promise<JobRecord[]>;
  /** When the next job is due, possibly in the past; null: never. */
  nextDueAt(): Promise<number | null>;
  /** Records skipped times and moves the job to its next one. false: another process did it. */
  skipOccurrences(
    jobId: string,
    skipped: SkippedOccurrences,
    next: ScheduledTime | null,
    now: number,
  ): Promise<boolean>;
  /**
   * Starts the run of an occurrence and moves the job to its next time, in one transaction; `overlap` decides about
   * active runs.
   */
  startOccurrence(
    run: NewRun,
    tasks: readonly NewTask[],
    due: DueOccurrence,
    now: number,
  ): Promise<OccurrenceStart<RunRecord>>;
  /** Queued runs whose previous run has ended. */
  runsInTurn(limit: number): Promise<string[]>;
  /** Newest first; `after` is the `at` of an occurrence. The last 1,000 of each job are kept. */
  scheduleOccurrences(
    jobId: string,
    filter: { outcome?: OccurrenceOutcome; after?: number; limit: number },
  ): Promise<ScheduleOccurrence[]>;
  /** Occurrences of each of these jobs by outcome. */
  occurrenceCounts(jobIds: readonly string[]): Promise<Map<string, Record<OccurrenceOutcome, number>>>;
  /** Of all jobs, including deleted ones: monotonic. */
  occurrenceTotals(): Promise<Record<OccurrenceOutcome, number>>;
}
