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
  /** The log line of a task that has failed permanently. */
  onFailed?(task: ClaimedTask, failure: Failure): RunEvent;
  /** Called once the outcome of a task is committed. */
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
   * Releases the task's slot in the process while it waits for a resource with a limit of its own: a hundred pages
   * waiting for a browser must not block plain requests to other sites.
   */
  leaveSlot(): void;
  /**
   * The site has answered and gets no further request from this task: releases its slots at the site and in the
   * process. How the task ends says nothing about the site any more.
   */
  leaveSite(answeredMs: number | null): void;
  /** The head of an answer says that the site asks for patience: nothing else begins there until that is read. */
  refused(): void;
  refusalRead(): void;
  /** Adds the tasks found so far to the run; throws when the run no longer wants them. */
  addDiscovered(growth: Growth): Promise<Grown>;
  /**
   * The site asks for this delay in milliseconds between two requests; the lane keeps it from now on. False: this task
   * started without the delay and must be requeued.
   */
  keepDelay(ms: number): boolean;
  /** Throws a Requeue when the site was paused or asked for patience while the task waited for something else. */
  mayAsk(): void;
  /** Reserves a turn for an additional request to the task's site and returns the milliseconds to wait for it. */
  nextTurn(): number;
  /** A page waits, or waits no longer, until others of its site leave it room in the browser. */
  waitsForMemory(waits: boolean): void;
}

/** Thrown by a handler that cannot run the task now, without anything having failed: the task is requeued. */
export class Requeue extends Error {}

/** Finds the handler of a task; undefined: there is none of that name. */
export type HandlerLookup = (name: string | null) => TaskHandler | undefined;
