import type { JsonValue } from "../../../domain/lane/queue-item.ts";
import type { ClaimedTask } from "../../../store/ports/port.ts";

/** State that a sleeping step leaves for its next turn. */
export interface StepMemory {
  /** The attempt that it belongs to: later attempts ignore it. */
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
