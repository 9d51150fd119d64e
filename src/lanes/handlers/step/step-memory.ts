import type { JsonValue } from "../../../domain/lane/queue-item.ts";
import type { ClaimedTask } from "../../../store/ports/port.ts";

/** What a step that went to sleep leaves for itself. */
export interface StepMemory {
  /** Of which try it is: what a try before has left is of no use to this one. */
  generation: number;
  tries: number;
  /** When the try began. */
  startedAt: number;
  /** It waits for a run; else only for the time. */
  forRun: boolean;
  until: number | null;
  /** Child runs that there were before the try. */
  childrenBefore: number;
  /** What its kind has left. */
  kind: JsonValue;
}

/** null: a try begins. */
export function memoryOf(task: ClaimedTask, generation: number): StepMemory | null {
  const memory = task.memory as StepMemory | null;
  return memory !== null && memory.generation === generation && memory.tries === task.tries ? memory : null;
}
