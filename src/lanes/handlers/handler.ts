import type { Log } from "../../base/log.ts";
import type { Failure } from "../../domain/run/failure.ts";
import type { Handled, RetryRules, RunEvent } from "../../domain/run/outcome.ts";
import type { Upstream } from "../../domain/proxy/upstream.ts";
import type { Growth, Grown } from "../../store/ports/crawl-port.ts";
import type { ClaimedTask, LaneHold, SettledTask } from "../../store/ports/port.ts";
import type { StepSleep } from "../../store/ports/workflow-port.ts";

/** Does the work of one task. It may throw; a FetchFailure keeps its classification. */
export interface TaskHandler {
  /** Shown in the attempt's history. */
  readonly strategy: string;
  run(task: ClaimedTask, context: HandlerContext): Promise<Handled | Asleep>;
  /** Overrides the retry rules of pages. */
  retryRules?(usual: RetryRules): RetryRules;
  /** The log event of a permanently failed task. */
  onFailed?(task: ClaimedTask, failure: Failure): RunEvent;
  /** Called once the outcome of a task is committed. */
  onWritten?(settled: SettledTask): void;
}

/** A step waits for an event, and needs neither a slot nor a lease until then. */
export interface Asleep {
  kind: "asleep";
  sleep: StepSleep;
}

export interface HandlerContext {
  /** Proves ownership of the task to the store. */
  hold: LaneHold;
  /** Aborted when the result is no longer wanted. */
  signal: AbortSignal;
  /** The proxy for all requests of the task; absent: none. */
  via?: Upstream;
  log: Log;
  /**
   * Releases the task's slot in the process while it waits for a resource with a limit of its own: a hundred pages
   * waiting for a browser must not block plain requests to other sites.
   */
  leaveSlot(): void;
  /**
   * The site has answered and gets no further request from this task: releases its slots at the site and in the process.
   * The task's own outcome no longer counts for the site.
   */
  leaveSite(answeredMs: number | null): void;
  /** The head of a response says that the site rate-limits us: nothing else starts there until its body is read. */
  refused(): void;
  refusalRead(): void;
  /** Adds the tasks found so far to the run; throws when the run has ended. */
  addDiscovered(growth: Growth): Promise<Grown>;
  /**
   * The site asks for this delay in milliseconds between two requests; the lane keeps it from now on. False: this task
   * started without the delay and must be requeued.
   */
  keepDelay(ms: number): boolean;
  /** Throws a Requeue when the site was paused or rate-limited us while the task waited for something else. */
  mayAsk(): void;
  /** Reserves a turn for an additional request to the task's site and returns the milliseconds to wait for it. */
  nextTurn(): number;
  /** Reports that a page waits, or no longer waits, for its site's share of browser memory. */
  waitsForMemory(waits: boolean): void;
}

/** Thrown by a handler that cannot run the task now, without anything having failed: the task is requeued. */
export class Requeue extends Error {}

/** Finds a handler by name; undefined: there is none. */
export type HandlerLookup = (name: string | null) => TaskHandler | undefined;
