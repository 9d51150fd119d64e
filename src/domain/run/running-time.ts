/** How long a run with a limit has been running: the worker counts it in steps. */

/** When more has passed since the last step, nobody worked meanwhile. */
export const LONGEST_STEP_MS = 10_000;

/** What has passed since the last step; by a clock that was set back it seems to lie in the future. */
export function sinceLastStep(runningSince: number | null, now: number): number {
  return runningSince === null ? 0 : Math.min(LONGEST_STEP_MS, Math.max(0, now - runningSince));
}
