/** A validated workflow: steps in order, each after its dependencies. */
import type { JsonValue } from "../lane/queue-item.ts";

export interface WorkflowDefinition {
  name: string;
  description: string | null;
  /** A JSON Schema (2020-12) of what a start is to say, with defaults; null: nothing is asked for. */
  params: JsonValue | null;
  max_recovery_attempts: number;
  steps: readonly StepDefinition[];
}

export interface StepDefinition {
  name: string;
  /** Which kind of step it is: the name of one that is built in, or of one that a user's module registers. */
  task_type: string;
  /** As they were written: expressions in them are resolved when the step begins. */
  params: Readonly<Record<string, JsonValue>>;
  /** Indices of earlier steps. */
  dependencies: readonly number[];
  /** Retries after the first attempt. */
  max_retries: number;
  /** Seconds per attempt, including the wait for a child run. Null: no limit. */
  timeout: number | null;
  /** Seconds; the weight of the step in the progress of the workflow. */
  estimated_duration: number | null;
  /** An expression: when it is false the step is skipped, and those after it go on without it. */
  when: string | null;
  for_each: ForEach | null;
}

/** The step is done once for every entry of a list; `item` and `index` stand for it in the expressions of its params. */
export interface ForEach {
  /** A list, an expression that gives one, or `${{ steps.NAME.items }}` for all items of an earlier step, however many. */
  in: JsonValue;
  /** How many at once, over all machines. */
  concurrency: number;
  /**
   * What becomes of the step when entries fail for good. `stop`: no more are begun, and it fails. `finish`: all are tried,
   * and it fails. `continue`: all are tried, and it completes with what succeeded, unless nothing did.
   */
  on_error: "stop" | "finish" | "continue";
}

export const STEP_DEFAULTS = { max_retries: 3, max_recovery_attempts: 3, concurrency: 4, on_error: "finish" } as const;
export const MOST_STEPS = 1000;
export const MOST_ITEMS = 100_000;

/** Handler name of workflow steps. */
export const STEP_HANDLER = "@step";

/** What a run of a workflow keeps: editing a template or a job changes later runs only. */
export interface WorkflowSnapshot {
  definition: WorkflowDefinition;
  params: Readonly<Record<string, JsonValue>>;
  template: { name: string; version: number } | null;
}

/** With the metadata at creation: a repeated request gets the same response, whatever changes later. */
export interface CreatedSnapshot extends WorkflowSnapshot {
  metadata: Readonly<Record<string, JsonValue>>;
}

/** Payload of a step task. */
export interface StepPayload {
  step: number;
  /** Of one entry of a `for_each`. */
  item?: { index: number; value: JsonValue };
}

/** Prefix of step lanes. */
export const STEP_LANES = "step.";

/** A step is a lane of its own; the entries of a `for_each` take turns in as many lanes as may be at work at once. */
export function laneOfStep(runId: string, step: number, slot?: number): string {
  return `${STEP_LANES}${runId}.${step}${slot === undefined ? "" : `.${slot}`}`;
}

/** The step, and of an entry of its list the slot, whose lane this is; null: it is no step's. */
export function stepOfLane(lane: string): { runId: string; step: number; slot: number | null } | null {
  const [, runId, step, slot] = /^step\.([^.]+)\.(\d+)(?:\.(\d+))?$/.exec(lane) ?? [];
  if (runId === undefined || step === undefined) return null;
  return { runId, step: Number(step), slot: slot === undefined ? null : Number(slot) };
}

/** The result of a completed step: a small value for expressions, and items of any number in a file. */
export interface StepResult {
  output: Readonly<Record<string, JsonValue>>;
  items: ItemsFile | null;
}

/** A stored file of JSON lines, one item each. */
export interface ItemsFile {
  /** null: there are no items, and no file. */
  hash: string | null;
  size: number;
  count: number;
}

/** Larger outputs belong into items. */
export const MOST_OUTPUT_BYTES = 256 * 1024;

/** Back-off of steps: 1, 2, 4, 8 … s, up to the maximum. */
export const STEP_RETRY = { baseMs: 1000, factor: 2, maxMs: 300_000 } as const;

/** The key of a step's task. */
export function keyOfStep(name: string): string {
  return `step:${name}`;
}

/** The key of an entry of its list; each list that the step comes to has an epoch. */
export function keyOfItem(name: string, epoch: number, index: number): string {
  return `step:${name}#${epoch}[${index}]`;
}

/** The step's name, out of the key of its task. */
export function stepNameOf(key: string): string {
  return key.slice("step:".length);
}
