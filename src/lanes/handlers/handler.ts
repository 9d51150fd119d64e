import type { Log } from "../../base/log.ts";
import type { Handled } from "../../domain/outcome.ts";
import type { ClaimedTask } from "../../store/port.ts";

/** Does the work of one task. It may throw; a FetchFailure keeps its classification. */
export interface TaskHandler {
  /** What the attempt's history says was used. */
  readonly strategy: string;
  run(task: ClaimedTask, context: HandlerContext): Promise<Handled>;
}

export interface HandlerContext {
  /** Aborted when the result is not wanted any more. */
  signal: AbortSignal;
  log: Log;
  /**
   * Gives up the task's place among those of the process, because it now waits for something that has places of its
   * own: a hundred pages in line for a browser must not keep plain requests to other sites waiting.
   */
  leaveSlot(): void;
}

/** Finds the handler of a task; undefined: there is none of that name. */
export type HandlerLookup = (name: string | null) => TaskHandler | undefined;
