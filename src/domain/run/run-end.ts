import type { RunFacts } from "./run-facts.ts";
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

/** The state of a run whose time is over before all of its tasks have ended. */
export function cutByTime(counts: TaskCounts): { status: RunState; message: string } {
  const done = counts.completed + counts.skipped;
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  if (done === 0)
    return { status: "failed", message: "Run failed: its time limit was reached before any task was done" };
  return {
    status: "partial",
    message: `Run completed in part: its time limit was reached with ${done} of ${total} done`,
  };
}

/** The state of a run that has no proxies left for what is not done. */
export function cutWithoutProxies(counts: TaskCounts, why: string): { status: RunState; message: string } {
  const done = counts.completed + counts.skipped;
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  if (done === 0) return { status: "failed", message: `Run failed: ${why}` };
  return { status: "partial", message: `Run completed in part: ${done} of ${total} were done; ${why}` };
}

/** A run of one page ends with the page's own words. */
export function endOfPageRun(
  counts: TaskCounts,
  facts: RunFacts,
): { status: RunState; message: string; meta: unknown } {
  const { attempt, stats, failure_code, failure_reason } = facts;
  if (counts.failed > 0) {
    return {
      status: "failed",
      message: `Run failed: ${facts.error_message ?? "the page could not be fetched"}`,
      meta: { attempt, failure_code, failure_reason, stats },
    };
  }
  return { status: "completed", message: "Run completed", meta: { attempt, stats } };
}

/** A workflow of which a step failed has failed, whatever else was done. */
export function endOfWorkflow(counts: TaskCounts, why: string | null): { status: RunState; message: string } {
  const total = counts.completed + counts.skipped + counts.failed + counts.cancelled;
  if (counts.failed > 0) return { status: "failed", message: `Run failed: ${why ?? "a step failed"}` };
  const skipped = counts.skipped === 0 ? "" : `, ${counts.skipped} skipped`;
  return { status: "completed", message: `Run completed: ${counts.completed} of ${total} steps done${skipped}` };
}
