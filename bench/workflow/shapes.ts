/** Workflows of no-op steps: measures the cost of a durable step. */
import type { JsonValue } from "../../src/domain/lane/queue-item.ts";

export interface Shape {
  name: string;
  /** Workflows started at once. */
  workflows: number;
  /** Total of steps and entries. */
  steps: number;
  definition: { name: string; steps: JsonValue[] };
}

const NOTHING = { task_type: "wait", params: { seconds: 0 } };

/** Sequential steps, in many concurrent workflows. */
export function chains(workflows: number, length: number): Shape {
  const steps = Array.from({ length }, (_, index) => ({
    name: `step-${index}`,
    ...NOTHING,
    dependencies: index === 0 ? [] : [`step-${index - 1}`],
  }));
  return {
    name: `${workflows} chains of ${length} steps`,
    workflows,
    steps: workflows * length,
    definition: { name: "chain", steps },
  };
}

/** Independent steps. */
export function wide(count: number): Shape {
  const steps = Array.from({ length: count }, (_, index) => ({ name: `step-${index}`, ...NOTHING }));
  return { name: `one workflow of ${count} steps`, workflows: 1, steps: count, definition: { name: "wide", steps } };
}

/** One `for_each` step over a list. */
export function list(count: number): Shape {
  const entries = Array.from({ length: count }, (_, index) => index);
  const steps = [{ name: "each", ...NOTHING, for_each: { in: entries, concurrency: 32 } }];
  return { name: `a list of ${count} entries`, workflows: 1, steps: count, definition: { name: "list", steps } };
}
