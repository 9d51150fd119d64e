/** Store methods and records for the profiles of runs. */
import type { DegradedReason } from "../../domain/health/compare.ts";
import type { HealthProfile } from "../../domain/health/profile.ts";
import type { AlertRecord } from "./alert-port.ts";

export interface HealthRecord {
  runId: string;
  endedAt: number;
  /** See `rulesOf`. */
  rules: string;
  profile: HealthProfile;
  /** null: nothing got worse, or too few runs are known. */
  reasons: DegradedReason[] | null;
  /** How many earlier runs it was compared with; below `MIN_BASELINE_RUNS` that says nothing. */
  comparedWith: number;
  /** Later runs are compared with it. */
  isBaseline: boolean;
  /** When a person accepted it although it is degraded. */
  acceptedAt: number | null;
}

/** What was written besides the profile. */
export interface RecordedHealth {
  reasons: DegradedReason[] | null;
  alert: AlertRecord | null;
  pausedSchedule: boolean;
  /** Lanes that got work, because the run has ended with it. */
  lanes: string[];
}

export interface HealthStore {
  /** Runs of jobs that have ended, or end after it, and whose records have no profile yet, oldest first. */
  runsWithoutHealth(limit: number): Promise<{ runId: string; generation: number }[]>;
  /**
   * Compares the profile with the job's earlier runs and writes it together with its effects: events, alert, pause of
   * the schedule, and the end of a run that waits for the comparison. null instead of a profile: the run has no rules, and is not looked at again. Returns null, and writes
   * nothing, if this generation of the run has its profile already, goes on, or is gone.
   */
  recordRunHealth(
    run: { runId: string; generation: number },
    found: { rules: string; profile: HealthProfile } | null,
    options: { deliver: boolean },
    now: number,
  ): Promise<RecordedHealth | null>;
  /**
   * For each key of a page, whether one of the last good runs of these rules, or a run since, got the page's records.
   * The run itself does not count.
   */
  pagesReadBefore(runId: string, rules: string, keys: readonly string[]): Promise<boolean[]>;
  /** Profiles of a job's runs, newest first. */
  runHealth(jobId: string, options: { limit: number }): Promise<HealthRecord[]>;
  /**
   * Makes the newest runs of the job, as far as they are degraded, its whole baseline; returns how many those are. 0:
   * the newest run is not degraded, and nothing changes.
   */
  acceptHealth(jobId: string, now: number): Promise<number>;
  /** How many runs were found degraded, ever. */
  countDegradedRuns(): Promise<number>;
}
