/** What happens besides the alert when the records of a run are degraded: nothing, or the job's schedule is paused. */
export const ON_DEGRADED = ["alert", "pause_schedule"] as const;
export type OnDegraded = (typeof ON_DEGRADED)[number];
export const DEFAULT_ON_DEGRADED: OnDegraded = "alert";
