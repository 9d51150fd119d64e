/** Store methods for runs that are held until something else happens. */
import type { Failure } from "../../domain/run/failure.ts";
import type { HeldRun, HoldReason, RunHold } from "../../domain/run/run-hold.ts";

export interface HoldStore {
  /**
   * No task of the run is begun until it is released; what is under way is finished. Its log says why. What it has waited
   * or tried in vain before counts, as long as nothing of it has ended since: `until` is that much sooner. `triedMs`: how
   * long it has now tried in vain. false: the run has ended, or is held already.
   */
  holdRun(id: string, hold: RunHold, now: number, triedMs?: number): Promise<boolean>;
  /**
   * These runs go on; `event` says in their logs why, as a `run.released`. Says which lanes got work. Those that are not held for this reason
   * are left as they are; those that need proxies wait for them now, if there are too few.
   */
  releaseRuns(
    ids: readonly string[],
    reason: HoldReason,
    event: { level: "info" | "warn"; message: string },
    now: number,
  ): Promise<{ released: string[]; lanes: string[] }>;
  /**
   * What it waits for has not come: it fails, or ends with the part that it has, as if its time were over. What waits is
   * swept as of any ended run. false: it is not held for this
   * reason, or somebody has paused it.
   */
  failHeldRun(id: string, reason: HoldReason, failure: Failure, now: number): Promise<boolean>;
  /** The oldest first, `after` the one with this id. Not those that are paused or wait for a person: their time stands still. */
  heldRuns(reason: HoldReason, limit: number, after?: string): Promise<HeldRun[]>;
}
