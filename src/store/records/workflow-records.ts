/** What runs of workflows are made with. */
import type { JsonValue } from "../../domain/lane/queue-item.ts";

/** What a run of a workflow is made with; part of `NewRun`, so that every way of starting a run can start one. */
export interface NewWorkflow {
  steps: readonly NewStep[];
  /** False: it waits, queued, until it is started. */
  start: boolean;
  metadata: Readonly<Record<string, JsonValue>>;
  maxRecoveryAttempts: number;
  template: { name: string; version: number } | null;
  /** The run that this one repeats with other params. */
  rerunOf: string | null;
  /** The same for runs that do the same with the same params. */
  similarityKey: string;
}

/** Its task has the key `step:NAME`, the lane `laneOfStep`, the handler `@step` and a `StepPayload`. */
export interface NewStep {
  name: string;
  kind: string;
  /** Indices of earlier steps. */
  dependencies: readonly number[];
  maxRetries: number;
  estimatedMs: number | null;
}
