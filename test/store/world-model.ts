/** What happens to the model of a store, and what it holds. */
import type { RunState, TaskState } from "../../src/domain/run/states.ts";
import type { ClaimedTask, LaneGrant, RunRecord } from "../../src/store/ports/port.ts";

export const OWNERS = ["A", "B"] as const;
export const LANES = ["site:l0.example", "site:l1.example", "site:l2.example"] as const;
export const RUNS = [0, 1, 2] as const;
export const VERDICTS = ["completed", "skipped", "failed", "retry", "rate_wait", "handed_back", "moved"] as const;

export type Owner = (typeof OWNERS)[number];
export type Action =
  | { do: "openRun"; run: number }
  | { do: "enqueue"; run: number; lane: number; keys: number[] }
  | { do: "takeEngine"; owner: Owner }
  | { do: "takeLane"; owner: Owner; lane: number }
  | { do: "releaseLane"; owner: Owner; lane: number }
  | { do: "claim"; pick: number; limit: number }
  | { do: "settle"; pick: number; take: number; verdict: (typeof VERDICTS)[number]; to: number }
  | { do: "heartbeat"; owner: Owner }
  | { do: "pass"; ms: number }
  | { do: "pause" | "resume" | "cancel" | "recover"; run: number }
  | { do: "retryFailed"; run: number; lane: number | null; limit: number };

export interface ModelTask {
  key: string;
  lane: number;
  state: TaskState;
  tries: number;
  waits: number;
  readyAt: number;
  history: number;
  born: number;
}

export interface ModelRun {
  record: RunRecord;
  status: RunState;
  generation: number;
  ends: number;
  tasks: ModelTask[];
}

export interface ModelLane {
  known: boolean;
  owner: Owner | null;
  epoch: number;
  until: number;
}

/** A claim that someone still believes in: whether it may be settled is the store's to say. */
export interface InFlight {
  owner: Owner;
  lane: number;
  grant: LaneGrant;
  run: number;
  task: ClaimedTask;
}

/** What is said of tasks that were claimed. */
export type Settling = Extract<Action, { do: "settle" }>;
