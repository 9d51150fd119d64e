/** Store methods and records for schedules and their occurrences. */
import type { ScheduledTime, OccurrenceOutcome } from "../../domain/run/schedule-occurrences.ts";
import type { RunState } from "../../domain/run/states.ts";
import type { JobRecord } from "../records/job-records.ts";
import type { NewRun, NewTask, RunRecord } from "../records/run-records.ts";

export interface ScheduleOccurrence {
  jobId: string;
  /** The time of the schedule, without what chance added to it. */
  at: number;
  /** Of many missed in a row: the last of them, and how many there were. */
  until: number;
  count: number;
  outcome: OccurrenceOutcome;
  runId: string | null;
  message: string | null;
  notedAt: number;
}

/** Times that passed without a run. */
export type SkippedOccurrences = Pick<ScheduleOccurrence, "at" | "until" | "count" | "message"> & {
  outcome: "missed" | "refused";
};

/** One time of a job's schedule that is to have its run. */
export interface DueOccurrence {
  jobId: string;
  at: number;
  /** The time after it; null: there is none. */
  next: ScheduledTime | null;
  /** Times before it that nobody was there for; the job waits for the first of them then. */
  missed?: SkippedOccurrences;
  /** With a run of the job that is not at its end, the new one is not started, waits for its end, or replaces it. */
  overlap: "skip" | "queue" | "cancel";
}

export type OccurrenceStart<T> =
  | { kind: "started"; created: T; lanes: string[]; cancelled: string[] }
  /** The occurrence is passed without a run, because of this one; `waiting`: as many wait behind it as may. */
  | { kind: "blocked"; by: { id: string; status: RunState }; waiting: boolean }
  /** The occurrence was dealt with before. */
  | { kind: "gone" };

/** So many runs of a job with `queue` may wait for the one before. */
export const MOST_QUEUED = 10;

export interface ScheduleStore {
  /** Jobs whose time has come, longest due first; `after` is the last one of the page before, as it was then. */
  dueJobs(now: number, limit: number, after?: Pick<JobRecord, "id" | "nextAt">): Promise<JobRecord[]>;
  /** When the next job is due, which may be long ago; null: none ever is. */
  nextDueAt(): Promise<number | null>;
  /** These times are dealt with: the job waits for its next one. false: somebody else has dealt with them. */
  skipOccurrences(
    jobId: string,
    skipped: SkippedOccurrences,
    next: ScheduledTime | null,
    now: number,
  ): Promise<boolean>;
  /** Starts the run of an occurrence and passes it, both or neither; runs before it are dealt with as `overlap` says. */
  startOccurrence(
    run: NewRun,
    tasks: readonly NewTask[],
    due: DueOccurrence,
    now: number,
  ): Promise<OccurrenceStart<RunRecord>>;
  /** Runs that wait for the one before them, which has ended. */
  runsInTurn(limit: number): Promise<string[]>;
  /** Newest first; `after` is the `at` of one. The last 1,000 of each job are kept. */
  scheduleOccurrences(
    jobId: string,
    filter: { outcome?: OccurrenceOutcome; after?: number; limit: number },
  ): Promise<ScheduleOccurrence[]>;
  /** Of each of these jobs: how many of its times became what. */
  occurrenceCounts(jobIds: readonly string[]): Promise<Map<string, Record<OccurrenceOutcome, number>>>;
  /** Of all jobs, those that are deleted included: it never gets less. */
  occurrenceTotals(): Promise<Record<OccurrenceOutcome, number>>;
}
