/** The verbs of the store about runs that wait for something else to happen. */
import type { Failure } from "../domain/failure.ts";
import type { HoldReason, RunHold } from "../domain/run-hold.ts";
import type { RunRecord } from "./run-records.ts";

export interface HoldVerbs {
  /**
   * No task of the run is begun until it is released; what is under way is finished. Its log says why. false: the run has
   * ended, or is held already.
   */
  holdRun(id: string, hold: RunHold, now: number): Promise<boolean>;
  /**
   * These runs go on; `message` is told in their logs. Says which lanes got work. Those that are not held for this reason
   * are left as they are.
   */
  releaseRuns(
    ids: readonly string[],
    reason: HoldReason,
    event: { level: "info" | "warn"; message: string },
    now: number,
  ): Promise<{ released: string[]; lanes: string[] }>;
  /** What it waits for has not come: it fails. What waits is swept as of any ended run. false: it is not held for this reason. */
  failHeldRun(id: string, reason: HoldReason, failure: Failure, now: number): Promise<boolean>;
  /** Those that have waited longest first. */
  heldRuns(reason: HoldReason, limit: number): Promise<(RunRecord & { hold: RunHold })[]>;
}
