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
  /** Pages that they know beyond what their limits allow: those are queued, and never fetched. */
  beyond: number;
}

export interface LiveStore {
  /** Runs that have not ended and that no step of a workflow has started, by kind and state. */
  countActiveRuns(): Promise<ActiveRunCount[]>;
  /** The same one by one: what is at work first, then what waits, each newest first. */
  activeRuns(limit: number): Promise<RunRecord[]>;
  /** When the task was added that has waited longest, of runs that may work; null: nothing waits. */
  oldestQueued(): Promise<number | null>;
  /** Lanes with open work, by name. */
  openLanes(filter: { after?: string; limit: number }): Promise<LaneRecord[]>;
  /** What failed of runs that go on, or have ended since that time: most frequent first, with an example of the newest run. */
  recentErrors(since: number, limit: number): Promise<RecentErrorRecord[]>;
  /** Pages of all runs at these sites, of those that are known, and at those with most open work. */
  siteCounts(choice: { sites: readonly string[]; busiest: number }): Promise<Map<string, TaskCounts>>;
}

export interface LaneRecord {
  lane: string;
  /** The first few of those with open work there; none: steps of workflows. */
  sites: string[];
  counts: Pick<TaskCounts, "queued" | "running" | "retrying">;
  /** Runs with open work there. */
  runs: number;
  isOwned: boolean;
  /** When the task was added that has waited longest; null: none waits. */
  oldestQueued: number | null;
  /** Of a step's lane, what it sleeps for, or when it is tried again because it has failed; null: neither. */
  sleeps: { for: StepWait["for"] | "retry"; until: number | null; failure: Failure | null } | null;
}

export interface RecentErrorRecord extends RunErrorRecord {
  exampleRunId: string;
}
