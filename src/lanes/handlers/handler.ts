import type { Log } from "../../base/log.ts";
import type { Failure } from "../../domain/run/failure.ts";
import type { Handled, RetryRules, RunEvent } from "../../domain/run/outcome.ts";
import type { Upstream } from "../../domain/proxy/upstream.ts";
import type { Growth, Grown } from "../../store/ports/crawl-port.ts";
import type { ClaimedTask, LaneHold, SettledTask } from "../../store/ports/port.ts";
import type { StepSleep } from "../../store/ports/workflow-port.ts";

/** Does the work of one task. It may throw; a FetchFailure keeps its classification. */
export interface TaskHandler {
  /** What the attempt's history says was used. */
  readonly strategy: string;
  run(task: ClaimedTask, context: HandlerContext): Promise<Handled | Asleep>;
  /** When and how often its tasks are tried again, if not as pages are. */
  retryRules?(usual: RetryRules): RetryRules;
  /** What the run's log says of a task that has failed for good. */
  onFailed?(task: ClaimedTask, failure: Failure): RunEvent;
  /** What came of a task is in the store, and will stay there. */
  onWritten?(settled: SettledTask): void;
}

/** Of a step: it waits for something, and needs neither a slot nor a lease until that has come. */
export interface Asleep {
  kind: "asleep";
  sleep: StepSleep;
}

export interface HandlerContext {
  /** Proves to the store that the task is ours. */
  hold: LaneHold;
  /** Aborted when the result is not wanted any more. */
  signal: AbortSignal;
  /** The proxy that all requests of the task go through; absent: none. */
  via?: Upstream;
  log: Log;
  /**
   * Gives up the task's place among those of the process, because it now waits for something that has places of its
   * own: a hundred pages in line for a browser must not keep plain requests to other sites waiting.
   */
  leaveSlot(): void;
  /**
   * The site has given what was asked for, and nothing more will be asked of it: its place there is free, and so is the
   * one among those of the process. What still becomes of the task says nothing about the site.
   */
  leaveSite(answeredMs: number | null): void;
  /** The head of an answer says that the site asks for patience: nothing else begins there until that is read. */
  refused(): void;
  refusalRead(): void;
  /** Adds to the task's run what it has found so far; throws when that is not wanted any more. */
  handOn(growth: Growth): Promise<Grown>;
  /**
   * The site asks for this many milliseconds between two requests: its lane keeps them from now on. False: this task
   * was started without them, and is to be handed back.
   */
  keepDelay(ms: number): boolean;
  /** Throws a Requeue when the site was paused or asked for patience while the task waited for something else. */
  mayAsk(): void;
  /**
   * The task asks its site once more than it was started for. Its turn is kept for it: it comes after so many
   * milliseconds, and is to be waited for.
   */
  nextTurn(): number;
  /** A page waits, or waits no longer, until others of its site leave it room in the browser. */
  waitsForMemory(waits: boolean): void;
}

/** Thrown by a handler that cannot do it now, for a reason that is nobody's failure: the task goes back to the queue. */
export class Requeue extends Error {}

/** Finds the handler of a task; undefined: there is none of that name. */
export type HandlerLookup = (name: string | null) => TaskHandler | undefined;
