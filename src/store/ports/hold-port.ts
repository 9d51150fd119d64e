/** Store methods for runs that are held until something else happens. */
import type { Failure } from "../../domain/run/failure.ts";
import type { HeldRun, HoldReason, RunHold } from "../../domain/run/run-hold.ts";

export interface HoldStore {
  /**
   * Starts no task of the run until it is released; running tasks finish. The run's log says why. Earlier waiting or
   * failed attempts count as long as nothing of the run has ended since: `until` moves that much earlier. `triedMs`:
   * how long it has now tried in vain. false: the run has ended, or is held already.
   */
  holdRun(id: string, hold: RunHold, now: number, triedMs?: number): Promise<boolean>;
  /**
   * Releases runs and logs `event` as a `run.released`. Returns the lanes that got work. Runs that are not held for
   * this reason stay as they are; those that need proxies are held for these if there are too few.
   */
  releaseRuns(
    ids: readonly string[],
    reason: HoldReason,
    event: { level: "info" | "warn"; message: string },
    now: number,
  ): Promise<{ released: string[]; lanes: string[] }>;
  /**
   * Ends a run whose wait was in vain: it fails, or ends as partial, as if its time were over. Its waiting tasks are
   * swept like those of any ended run. false: it is not held for this reason, or is paused.
   */
  failHeldRun(id: string, reason: HoldReason, failure: Failure, now: number): Promise<boolean>;
  /**
   * Oldest first, `after` is a run id. Excludes runs that are paused or wait for a person: their time does not count.
   */
  heldRuns(reason: HoldReason, limit: number, after?: string): Promise<HeldRun[]>;
}
