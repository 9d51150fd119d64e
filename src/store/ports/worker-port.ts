/** Store methods and records for worker processes. */
import type { ProcessIdentity } from "../../base/machine.ts";
import type { WaitCount } from "../../domain/lane/rate-limit-wait.ts";

export interface NewWorker {
  id: string;
  /** The name of its machine. */
  machine: string;
  identity: ProcessIdentity;
  version: string;
  /** `serve`, `worker`, `crawl` …: the command, or `library`. */
  command: string;
  maxWorkers: number;
  heartbeatMs: number;
}

/** What a worker tells of itself every few seconds. */
export interface WorkerHeartbeat {
  role: "engine" | "standby" | "stopped";
  engine: string;
  inFlight: number;
  /** Tasks that ended well or badly since it started. */
  completed: number;
  failed: number;
  tasksPerSecond: number;
  /** With its browsers. */
  memoryBytes: number;
  /** Why it takes no more work, when it does not. */
  paused: string | null;
  /** What of its means is not as it should be. */
  troubles: readonly WorkerProblem[];
  attempts: readonly AttemptCount[];
  active: readonly ActiveTask[];
  /** How long sites had to wait for their limits since it started; absent: an earlier version. */
  waits?: readonly WaitCount[];
  /** What has been asked of the model since it started; absent: it has none. */
  llm?: LlmCounts;
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
 * `working` and `draining` (it finishes what it has) and `drained` (it has nothing left and takes nothing) are said by
 * it, `lost` by others when it has not been heard of; `stopped` is its last word.
 */
export type WorkerState = "working" | "draining" | "drained" | "lost" | "stopped";

export interface WorkerRecord extends NewWorker, WorkerHeartbeat {
  state: WorkerState;
  drainRequested: boolean;
  startedAt: number;
  heartbeatAt: number;
  stoppedAt: number | null;
}

/** What others want of a worker. */
export interface WorkerRequests {
  drain: boolean;
  /** Somebody waits for an answer. */
  ping: boolean;
}

export interface WorkerStore {
  /**
   * With the mark of its key (see `agreeOnKey`) it is refused, with false, when those that live have another one: of two that
   * begin at once the first decides.
   */
  registerWorker(worker: NewWorker, now: number, keyMark?: string): Promise<boolean>;
  /** Says how it is doing, which answers all pings, and hears what is wanted of it; `not_found` when it has been forgotten. */
  recordHeartbeat(
    id: string,
    state: "working" | "draining" | "drained",
    heartbeat: WorkerHeartbeat,
    now: number,
  ): Promise<WorkerRequests>;
  /** The wishes alone: cheap enough to ask often. */
  workerRequests(id: string): Promise<WorkerRequests>;
  workerStopped(id: string, now: number): Promise<void>;
  /** Newest first; `live` leaves out those that have stopped. Those that are silent are `lost` here before anybody has called them so. */
  workers(filter: { live?: boolean; limit: number }): Promise<WorkerRecord[]>;
  worker(id: string): Promise<WorkerRecord | null>;
  askDrain(id: string, drain: boolean, now: number): Promise<WorkerRecord>;
  /** Asks it to say that it is there; returns the number of this ping. */
  askPing(id: string): Promise<number>;
  /** Answers all that asked until now. */
  answerPings(id: string, now: number): Promise<void>;
  pingAnswered(id: string, ping: number): Promise<boolean>;
  /** Those that have not been heard of for three heartbeats, and ten seconds at least, become `lost`: returned once. */
  loseWorkers(now: number): Promise<WorkerRecord[]>;
  /** Forgets those that stopped or were lost before that time. */
  forgetWorkers(before: number): Promise<number>;
  /** A task is to end without a result: at once when it waits, and as soon as its owner looks when it runs. */
  stopTask(taskId: string, now: number): Promise<{ state: "failed" | "running"; lanes: string[] }>;
  /** Ends what is to be stopped and went back to the queue, as after a crash of its owner; says which lanes got work by that. */
  endStopped(now: number): Promise<string[]>;
  /**
   * Whether the key with this mark is the one that the processes of this deployment seal with. While no worker lives, any
   * is: from then on that one.
   */
  agreeOnKey(mark: string): Promise<boolean>;
  /** Whether anything stored was sealed or marked with a key: then only that key will do. */
  hasSealed(): Promise<boolean>;
  /** The mark of the place in which the files of this deployment are; null: none was set yet. */
  filesMark(): Promise<string | null>;
  /** Sets it if there is none, and says which one there is. */
  markFiles(mark: string): Promise<string>;
  /** Which of these running tasks (by row) are to be stopped. */
  stoppedTasks(rows: readonly number[]): Promise<Set<number>>;
}
