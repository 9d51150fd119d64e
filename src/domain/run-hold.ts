/** What keeps a run from its work although nobody has paused it: something else has to happen first. */
export const HOLD_REASONS = ["proxies", "previous_run"] as const;
export type HoldReason = (typeof HOLD_REASONS)[number];

export interface RunHold {
  reason: HoldReason;
  since: number;
  /** When something is decided at the latest; null: not a matter of time. */
  until: number | null;
  /** A sentence for people: what it waits for. */
  message: string;
}
