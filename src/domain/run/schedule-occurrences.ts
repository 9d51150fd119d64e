/** The words about the times of schedules. */

/**
 * What became of a time of a schedule. `started`: it has its run. `missed`: nobody was there when it came. `skipped`: the run
 * before was not at its end. `refused`: its job does not hold any more.
 */
export const OCCURRENCE_OUTCOMES = ["started", "missed", "skipped", "refused"] as const;
export type OccurrenceOutcome = (typeof OCCURRENCE_OUTCOMES)[number];

export interface ScheduledTime {
  /** As the schedule says it: what tells one time from another. */
  scheduledAt: number;
  /** With what chance adds to it: when it starts. */
  at: number;
}
