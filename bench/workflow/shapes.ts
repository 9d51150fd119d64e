/** Workflows whose steps do nothing: what is left is what it costs to do a step, durably. */
import type { JsonValue } from "../../src/domain/lane/queue-item.ts";

export interface Shape {
  name: string;
  /** How many of them are begun at once. */
  workflows: number;
  /** Steps and entries of all of them together. */
  steps: number;
  definition: { name: string; steps: JsonValue[] };
}

const NOTHING = { task_type: "wait", params: { seconds: 0 } };

/** Steps one after the other, in many workflows at once. */
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

/** Steps that wait for nobody. */
export function wide(count: number): Shape {
  const steps = Array.from({ length: count }, (_, index) => ({ name: `step-${index}`, ...NOTHING }));
  return { name: `one workflow of ${count} steps`, workflows: 1, steps: count, definition: { name: "wide", steps } };
}

/** One step for each entry of a list. */
export function list(count: number): Shape {
  const entries = Array.from({ length: count }, (_, index) => index);
  const steps = [{ name: "each", ...NOTHING, for_each: { in: entries, concurrency: 32 } }];
  return { name: `a list of ${count} entries`, workflows: 1, steps: count, definition: { name: "list", steps } };
}
