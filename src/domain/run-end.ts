import type { RunState, TaskState } from "./states.ts";

export type TaskCounts = Record<TaskState, number>;

export const NO_TASKS: Readonly<TaskCounts> = {
  pending: 0,
  queued: 0,
  running: 0,
  retrying: 0,
  completed: 0,
  failed: 0,
  skipped: 0,
  cancelled: 0,
};

/** The state of a run all of whose tasks have ended, and the sentence that says why. */
export function endOfRun(counts: TaskCounts): { status: RunState; message: string } {
  const good = counts.completed + counts.skipped;
  const total = good + counts.failed + counts.cancelled;
  if (counts.failed === 0) return { status: "completed", message: `Run completed: ${good} of ${total} done` };
  if (good === 0) return { status: "failed", message: `Run failed: none of ${total} succeeded` };
  return { status: "partial", message: `Run completed in part: ${good} of ${total} done, ${counts.failed} failed` };
}
