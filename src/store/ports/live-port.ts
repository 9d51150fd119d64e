/** Store methods for the live view: each reads only what is active or happened recently. */
import type { Failure } from "../../domain/run/failure.ts";
import type { TaskCounts } from "../../domain/run/run-end.ts";
import type { RunState } from "../../domain/run/states.ts";
import type { RunErrorRecord } from "./progress-port.ts";
import type { RunRecord } from "../records/run-records.ts";
import type { StepWait } from "./workflow-port.ts";

export interface ActiveRunCount {
  kind: string;
  status: RunState;
  count: number;
  /** Known pages beyond the runs' limits: queued, but never fetched. */
  beyond: number;
}

export interface LiveStore {
  /** Runs that have not ended, without child runs, by kind and state. */
  countActiveRuns(): Promise<ActiveRunCount[]>;
  /** The same runs as records: running first, then waiting, each newest first. */
  activeRuns(limit: number): Promise<RunRecord[]>;
  /** Creation time of the longest-waiting task of runs that may work; null: nothing waits. */
  oldestQueued(): Promise<number | null>;
  /** Lanes with open work, by name. */
  openLanes(filter: { after?: string; limit: number }): Promise<LaneRecord[]>;
  /** Failures of runs that are active or ended since then: most frequent first, with an example of the newest run. */
  recentErrors(since: number, limit: number): Promise<RecentErrorRecord[]>;
  /** Page counts of all runs at these sites and at the busiest ones; unknown sites are missing. */
  siteCounts(choice: { sites: readonly string[]; busiest: number }): Promise<Map<string, TaskCounts>>;
}

export interface LaneRecord {
  lane: string;
  /** The first few sites with open work; none: a lane of workflow steps. */
  sites: string[];
  counts: Pick<TaskCounts, "queued" | "running" | "retrying">;
  /** Runs with open work in the lane. */
  runs: number;
  isOwned: boolean;
  /** Creation time of the longest-waiting task; null: none waits. */
  oldestQueued: number | null;
  /** For a step's lane: what the step sleeps for, or when it is retried; null: neither. */
  sleeps: { for: StepWait["for"] | "retry"; until: number | null; failure: Failure | null } | null;
}

export interface RecentErrorRecord extends RunErrorRecord {
  exampleRunId: string;
}
