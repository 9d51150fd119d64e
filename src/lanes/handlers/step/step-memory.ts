import type { JsonValue } from "../../../domain/lane/queue-item.ts";
import type { ClaimedTask } from "../../../store/ports/port.ts";

/** State that a sleeping step leaves for its next turn. */
export interface StepMemory {
  /** Generation and tries of the attempt it belongs to: later attempts ignore it. */
  generation: number;
  tries: number;
  /** When the attempt began. */
  startedAt: number;
  /** It waits for a run; false: for a time only. */
  forRun: boolean;
  until: number | null;
  /** Number of child runs before the attempt. */
  childrenBefore: number;
  /** State of the step kind. */
  kind: JsonValue;
}

/** Null: a new attempt begins. */
export function memoryOf(task: ClaimedTask, generation: number): StepMemory | null {
  const memory = task.memory as StepMemory | null;
  return memory !== null && memory.generation === generation && memory.tries === task.tries ? memory : null;
}
