/**
 * The outcome of a schedule occurrence. `started`: it has a run. `missed`: no process was running. `skipped`: the previous
 * run had not ended. `refused`: its job is no longer valid.
 */
export const OCCURRENCE_OUTCOMES = ["started", "missed", "skipped", "refused"] as const;
export type OccurrenceOutcome = (typeof OCCURRENCE_OUTCOMES)[number];

export interface ScheduledTime {
  /** The cron time, which identifies the occurrence. */
  scheduledAt: number;
  /** When it starts, with jitter. */
  at: number;
}
