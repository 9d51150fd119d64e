/** Store methods and records for worker processes. */
import type { ProcessIdentity } from "../../base/machine.ts";
import type { WaitCount } from "../../domain/lane/rate-limit-wait.ts";

export interface NewWorker {
  id: string;
  /** Host name. */
  machine: string;
  identity: ProcessIdentity;
  version: string;
  /** `serve`, `worker`, `crawl` …: the command, or `library`. */
  command: string;
  maxWorkers: number;
  heartbeatMs: number;
}

/** Reported by a worker every few seconds. */
export interface WorkerHeartbeat {
  role: "engine" | "standby" | "stopped";
  engine: string;
  inFlight: number;
  /** Completed and failed tasks since it started. */
  completed: number;
  failed: number;
  tasksPerSecond: number;
  /** Including its browsers. */
  memoryBytes: number;
  /** Why it takes no more work; null: it does. */
  paused: string | null;
  /** Degraded resources. */
  troubles: readonly WorkerProblem[];
  attempts: readonly AttemptCount[];
  active: readonly ActiveTask[];
  /** Waits for limits since it started; absent: an earlier version. */
  waits?: readonly WaitCount[];
  /** LLM calls since it started; absent: no model. */
  llm?: LlmCounts;
  /** Remote browsers; absent: none configured. */
  browsers?: readonly BrowserCount[];
}

/** A remote browser as one worker sees it. */
export interface BrowserCount {
  /** Host and port. */
  name: string;
  state: "connecting" | "up" | "down";
  pages: number;
  maxPages: number;
  version: string | null;
  problem: { message: string; since: number } | null;
}

export interface LlmCounts {
  calls: { ok: number; failed: number };
  promptTokens: number;
  completionTokens: number;
}

export interface WorkerProblem {
  what: "memory" | "browser";
  message: string;
  since: number;
}

/** Attempts of one kind since the worker started. */
export interface AttemptCount {
  strategy: string;
  outcome: string;
  failureCode: string | null;
  count: number;
  ms: number;
}

export interface ActiveTask {
  taskId: string;
  runId: string;
  lane: string;
  url: string | null;
  startedAt: number;
}

/**
 * The worker itself reports `working`, `draining` (it finishes its tasks) and `drained` (it has none left and takes
 * none), and finally `stopped`; others mark it `lost` when its heartbeats stop.
 */
export type WorkerState = "working" | "draining" | "drained" | "lost" | "stopped";

export interface WorkerRecord extends NewWorker, WorkerHeartbeat {
  state: WorkerState;
  drainRequested: boolean;
  startedAt: number;
  heartbeatAt: number;
  stoppedAt: number | null;
}

/** Requests to a worker. */
export interface WorkerRequests {
  drain: boolean;
  /** A ping waits for an answer. */
  ping: boolean;
}

export interface WorkerStore {
  /**
   * With `keyMark` (see `agreeOnKey`), returns false when live workers use another key: of two that start at once the
   * first decides.
   */
  registerWorker(worker: NewWorker, now: number, keyMark?: string): Promise<boolean>;
  /**
   * Stores a heartbeat, which answers all pings, and returns pending requests; throws `not_found` when the worker was
   * removed.
   */
  recordHeartbeat(
    id: string,
    state: "working" | "draining" | "drained",
    heartbeat: WorkerHeartbeat,
    now: number,
  ): Promise<WorkerRequests>;
  /** Only the requests: cheap enough to poll. */
  workerRequests(id: string): Promise<WorkerRequests>;
  workerStopped(id: string, now: number): Promise<void>;
  /**
   * Newest first; `live` omits stopped ones. Silent workers are returned as `lost` even before `loseWorkers` marks
   * them.
   */
  workers(filter: { live?: boolean; limit: number }): Promise<WorkerRecord[]>;
  worker(id: string): Promise<WorkerRecord | null>;
  askDrain(id: string, drain: boolean): Promise<WorkerRecord>;
  /** Requests a sign of life; returns the ping's number. */
  askPing(id: string): Promise<number>;
  /** Answers all pings so far. */
  answerPings(id: string, now: number): Promise<void>;
  pingAnswered(id: string, ping: number): Promise<boolean>;
  /** Marks workers without a heartbeat for three intervals, at least ten seconds, as `lost`; returns each once. */
  loseWorkers(now: number): Promise<WorkerRecord[]>;
  /** Removes workers that stopped or were lost before then. */
  forgetWorkers(before: number): Promise<number>;
  /** Stops a task without a result: at once when it waits, at its owner's next check when it runs. */
  stopTask(taskId: string, now: number): Promise<{ state: "failed" | "running"; lanes: string[] }>;
  /**
   * Ends tasks with a stop request that were requeued, e.g. after a crash of their owner; returns the lanes that got
   * work.
   */
  endStopped(now: number): Promise<string[]>;
  /**
   * Whether the key with this mark is the one that this deployment seals with. While no worker lives, any key is
   * accepted and becomes it.
   */
  agreeOnKey(mark: string): Promise<boolean>;
  /** Whether anything was sealed or marked with a key: then only that key works. */
  hasSealed(): Promise<boolean>;
  /** The mark of this deployment's artifact storage; null: not set yet. */
  filesMark(): Promise<string | null>;
  /** Sets the mark if there is none, and returns the one in effect. */
  markFiles(mark: string): Promise<string>;
  /** Which of these running tasks (by row) have a stop request. */
  stoppedTasks(rows: readonly number[]): Promise<Set<number>>;
}
