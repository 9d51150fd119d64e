/** Kinds of alerts; `test` checks the delivery only. */
export const ALERT_KINDS = [
  "breaker_open",
  "worker_lost",
  "crash_loop",
  "run_failed",
  "extraction_degraded",
  "repair_proposed",
  "repair_accepted",
  "monitor_changed",
  "disk_low",
  "disk_budget",
  "channel_failing",
  "test",
] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

export interface AlertRetryRule {
  baseMs: number;
  maxMs: number;
  tries: number;
}

/** 10 s, 30 s, 90 s …: about 15 hours in all, since a receiver may be down over night. */
export const ALERT_RETRY: AlertRetryRule = { baseMs: 10_000, maxMs: 6 * 3_600_000, tries: 10 };

/** How long to wait after so many tries that failed; null: it is given up. */
export function alertRetryWait(rule: AlertRetryRule, tries: number): number | null {
  return tries >= rule.tries ? null : Math.min(rule.maxMs, rule.baseMs * 3 ** (tries - 1));
}
