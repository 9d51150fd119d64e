/**
 * What happens besides the alert when the records of a run are degraded: nothing, the job's schedule is paused, or the
 * run fails.
 */
export const ON_DEGRADED = ["alert", "pause_schedule", "fail"] as const;
export type OnDegraded = (typeof ON_DEGRADED)[number];
export const DEFAULT_ON_DEGRADED: OnDegraded = "alert";
