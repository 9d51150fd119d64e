/** What runs are about. `download` serves a step of a workflow, `proxy_refresh` checks all proxies. */
export const RUN_KINDS = ["queue", "page", "crawl", "workflow", "download", "proxy_refresh"] as const;
export type RunKind = (typeof RUN_KINDS)[number];

/**
 * The two state machines. The tables below are the only place that says which state may follow which; the stores
 * turn them into triggers, so that an illegal transition cannot be written by anyone, not even by hand.
 */
export const RUN_STATES = [
  "queued",
  "running",
  "paused",
  "waiting_for_human",
  "recovering",
  "completed",
  "partial",
  "failed",
  "cancelled",
] as const;
export type RunState = (typeof RUN_STATES)[number];

export const RUN_TRANSITIONS: Readonly<Record<RunState, readonly RunState[]>> = {
  queued: ["running", "paused", "cancelled", "failed"],
  running: ["completed", "partial", "failed", "cancelled", "paused", "waiting_for_human"],
  // A crawl that is resumed or opened again waits its turn like a new one.
  paused: ["running", "queued", "cancelled", "failed"],
  waiting_for_human: ["running", "cancelled", "failed"],
  recovering: ["running", "cancelled"],
  // An ended run opens again as a new generation: by retry-failed, or by new items in the queue.
  completed: ["running", "queued"],
  partial: ["running", "queued"],
  failed: ["running", "queued", "recovering"],
  cancelled: [],
};

export const TERMINAL_RUN_STATES: readonly RunState[] = ["completed", "partial", "failed", "cancelled"];

/** The order is stored in databases as a number: append, never reorder. */
export const TASK_STATES = [
  "pending",
  "queued",
  "running",
  "retrying",
  "completed",
  "failed",
  "skipped",
  "cancelled",
] as const;
export type TaskState = (typeof TASK_STATES)[number];

export const TASK_TRANSITIONS: Readonly<Record<TaskState, readonly TaskState[]>> = {
  pending: ["queued", "skipped", "cancelled"],
  queued: ["running", "skipped", "cancelled"],
  // running → queued hands the task back without spending an attempt.
  running: ["completed", "failed", "skipped", "cancelled", "retrying", "queued"],
  retrying: ["queued", "skipped", "cancelled"],
  // Recovering a workflow resets its steps, whatever their state.
  completed: ["pending"],
  failed: ["queued", "pending"],
  skipped: ["pending"],
  // Tasks cut off by a crawl's time limit continue when the crawl is reopened.
  cancelled: ["queued", "pending"],
};

export const OPEN_TASK_STATES: readonly TaskState[] = ["pending", "queued", "running", "retrying"];

/** How `orb queue` and `/queue/*` name the states of an item. */
export const QUEUE_STATES = ["queued", "in_progress", "done", "skipped", "error"] as const;
export type QueueState = (typeof QUEUE_STATES)[number];

const QUEUE_NAME: Readonly<Record<TaskState, QueueState>> = {
  pending: "queued",
  queued: "queued",
  retrying: "queued",
  running: "in_progress",
  completed: "done",
  skipped: "skipped",
  cancelled: "skipped",
  failed: "error",
};

export function queueStateOf(state: TaskState): QueueState {
  return QUEUE_NAME[state];
}

export function taskStatesOf(queueState: QueueState): TaskState[] {
  return TASK_STATES.filter((state) => QUEUE_NAME[state] === queueState);
}

export function canRunMove(from: RunState, to: RunState): boolean {
  return RUN_TRANSITIONS[from].includes(to);
}

export function canTaskMove(from: TaskState, to: TaskState): boolean {
  return TASK_TRANSITIONS[from].includes(to);
}
