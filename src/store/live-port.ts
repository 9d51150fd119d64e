/** The verbs of the store for whoever watches all of the work: each looks only at what goes on, or happened of late. */
import type { TaskCounts } from "../domain/run-end.ts";
import type { RunState } from "../domain/states.ts";
import type { RunErrorRecord } from "./progress-port.ts";
import type { RunRecord } from "./run-records.ts";
import type { StepWait } from "./workflow-port.ts";

export interface LiveVerbs {
  /** Runs that have not ended, by kind and state. */
  countActiveRuns(): Promise<{ kind: string; status: RunState; count: number }[]>;
  /** Those of them that no step of a workflow has started: what is at work first, then what waits, each newest first. */
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
  sleeps: { for: StepWait["for"] | "retry"; until: number | null } | null;
}

export interface RecentErrorRecord extends RunErrorRecord {
  exampleRunId: string;
}
