import type { JsonValue } from "../../domain/lane/queue-item.ts";

/** The input of a workflow run; part of `NewRun`, so that every way of starting a run can start one. */
export interface NewWorkflow {
  steps: readonly NewStep[];
  /** False: it stays queued until `startWorkflow`. */
  start: boolean;
  metadata: Readonly<Record<string, JsonValue>>;
  maxRecoveryAttempts: number;
  template: { name: string; version: number } | null;
  /** The run that this one repeats with other parameters. */
  rerunOf: string | null;
  /** Equal for runs with the same definition and parameters. */
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
