/** How long a run with a limit has been running: the worker counts it in steps. */

/** A longer gap since the last step is downtime. */
export const LONGEST_STEP_MS = 10_000;

/** Time since the last step; 0 if the clock was set back. */
export function sinceLastStep(runningSince: number | null, now: number): number {
  return runningSince === null ? 0 : Math.min(LONGEST_STEP_MS, Math.max(0, now - runningSince));
}
