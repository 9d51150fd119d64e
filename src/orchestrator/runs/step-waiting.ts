/** What a workflow step waits for, as the API returns it. */
import { isoOf } from "../../base/iso.ts";
import { type LastFailure, lastFailure } from "../../domain/run/last-failure.ts";
import type { TaskCounts } from "../../domain/run/run-end.ts";
import { OPEN_TASK_STATES, type RunKind, type RunState } from "../../domain/run/states.ts";
import { shownUrl } from "../../domain/text/url.ts";
import type { WaitingView } from "../../domain/run/waiting.ts";
import { waitingSentence } from "../../domain/run/waiting-sentence.ts";
import type { RunRecord } from "../../store/ports/port.ts";
import type { StepRecord } from "../../store/ports/workflow-port.ts";

interface Waits {
  /** Human-readable. */
  message: string;
  /** The failure that makes it wait. */
  last_failure: LastFailure | null;
}

export type StepWaiting = Waits &
  (
    | { for: "time"; until: string }
    | { for: "run"; run_id: string; until: string | null; run: ChildProgress | null }
    | { for: "entries"; open: number }
    | { for: "retry"; until: string | null }
    | { for: "worker" }
  );

/** Progress of the run that a step started. */
interface ChildProgress {
  kind: RunKind;
  status: RunState;
  done: number;
  failed: number;
  total: number;
}

interface Child {
  run: RunRecord;
  counts: TaskCounts;
  /** What blocks it. */
  waits: WaitingView | null;
}

/** Ended and running steps wait for nothing. */
export function toStepWaiting(step: StepRecord, child: Child | null = null): StepWaiting | null {
  const { task, waiting } = step;
  if (!OPEN_TASK_STATES.includes(task.state)) return null;
  if (waiting === null) return task.state === "retrying" ? retryOf(step) : null;
  switch (waiting.for) {
    case "time":
      return {
        for: "time",
        until: isoOf(waiting.until),
        message: "Waiting, as requested by the step",
        last_failure: null,
      };
    case "items":
      return { for: "entries", open: waiting.open, message: entriesWords(step), last_failure: null };
    case "run":
      return {
        for: "run",
        run_id: waiting.runId,
        until: child?.waits?.until ?? null,
        message: child === null ? "Waiting for the run it started" : childWords(child),
        last_failure: child?.waits?.last_failure ?? null,
        run: child === null ? null : progressOf(child),
      };
  }
}

/** Of a failed step that will be retried. */
export function retryOf({ task, maxRetries }: StepRecord): Extract<StepWaiting, { for: "retry" }> {
  const until = isoOf(task.readyAt);
  const last =
    task.failure === null
      ? null
      : lastFailure(task.failure, {
          url: null,
          attempt: task.tries + 1,
          max_attempts: maxRetries + 1,
          next_try_at: until,
        });
  const message = waitingSentence({ reason: "retry", until: task.readyAt }, { last });
  return { for: "retry", until, message, last_failure: last };
}

function entriesWords({ items }: StepRecord): string {
  if (items === null) return "Waiting for its list entries";
  const failed = items.failed === 0 ? "" : `, ${items.failed} failed`;
  return `${items.total - items.open} of ${items.total} entries done${failed}`;
}

function progressOf({ run, counts }: Child): ChildProgress {
  const { completed, failed, skipped, cancelled, pending, queued, running, retrying } = counts;
  const done = completed + failed + skipped + cancelled;
  return {
    kind: run.kind as RunKind,
    status: run.status,
    done,
    failed,
    total: done + pending + queued + running + retrying,
  };
}

/** `Downloading: 0 of 14. shop.example: Retrying: the server answered 500 (server error). Attempt 2 of 3 at …`. */
function childWords(child: Child): string {
  const { run, waits } = child;
  const { done, total, failed } = progressOf(child);
  const bad = failed === 0 ? "" : `, ${failed} failed`;
  const what =
    run.kind === "download"
      ? `Downloading: ${done} of ${total}${bad}`
      : run.kind === "crawl"
        ? `Crawling: ${done} of ${total} known ${total === 1 ? "page" : "pages"}${bad}`
        : `Fetching ${run.url === null ? "a page" : shownUrl(run.url)}`;
  return waits === null ? what : `${what}. ${waits.message}`;
}
