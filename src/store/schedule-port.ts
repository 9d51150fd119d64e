/** The verbs and words of the store about what became of the times of a schedule. */
export const SLOT_OUTCOMES = ["started", "missed", "skipped", "refused"] as const;

/**
 * `started`: it has its run. `missed`: nobody was there when it came. `skipped`: the run before was not at its end.
 * `refused`: its job does not hold any more.
 */
export type SlotOutcome = (typeof SLOT_OUTCOMES)[number];

export interface SlotRecord {
  jobId: string;
  /** The time of the schedule, without what chance added to it. */
  at: number;
  /** Of many missed in a row: the last of them, and how many there were. */
  until: number;
  count: number;
  outcome: SlotOutcome;
  runId: string | null;
  message: string | null;
  notedAt: number;
}

export interface ScheduleVerbs {
  /** Newest first; `after` is the `at` of one. The last 1,000 of each job are kept. */
  slots(jobId: string, filter: { outcome?: SlotOutcome; after?: number; limit: number }): Promise<SlotRecord[]>;
  /** Of each of these jobs: how many of its times became what. */
  slotCounts(jobIds: readonly string[]): Promise<Map<string, Record<SlotOutcome, number>>>;
}
