/** Logic of a workflow's page. */
import type { WorkflowTask, WorkflowProgress } from "../../../api/types.ts";
import { count, duration, shortNumber, fullNumber, relativeTime, sentence } from "../../../logic/format.ts";
import { whenWords, withoutTime } from "../../../logic/waiting.ts";

export type FlowStep = WorkflowProgress["steps"][number];
export type StepDetail = WorkflowTask;
type FlowStatus = WorkflowProgress["status"];

type StepState = Pick<FlowStep, "task_name" | "status" | "dependencies">;

/**
 * A step ended well when it completed or was not needed. A step skipped because an earlier one failed did not: it runs
 * once that one has completed.
 */
export function endedWell(steps: readonly StepState[]): boolean[] {
  const well: boolean[] = [];
  for (const { status, dependencies } of steps)
    well.push(status === "completed" || (status === "skipped" && dependencies.every((index) => well[index] === true)));
  return well;
}

interface RecoveryPlan {
  /** Indices of steps that run again. */
  again: number[];
  /** Indices of steps that keep their result. */
  kept: number[];
  /** Indices of failed steps on another branch, which stay failed. */
  left: number[];
  /** Why recovery cannot start there. */
  refusal: string | null;
}

/** The plan of a recovery; `from` null: repeats everything that did not end well. */
export function recoveryPlan(steps: readonly StepState[], from: number | null): RecoveryPlan {
  const well = endedWell(steps);
  const again = new Set<number>();
  for (const [index, { dependencies }] of steps.entries())
    if (from === null ? well[index] !== true : index === from || dependencies.some((one) => again.has(one)))
      again.add(index);
  const others = [...steps.keys()].filter((index) => !again.has(index));
  const missing = from === null ? undefined : steps[from]?.dependencies.find((index) => well[index] !== true);
  const blocking = missing === undefined ? undefined : steps[missing];
  return {
    again: [...again],
    kept: others.filter((index) => well[index] === true),
    left: others.filter((index) => well[index] !== true),
    refusal: blocking === undefined ? null : `Needs the result of ${blocking.task_name}, which is ${blocking.status}.`,
  };
}

/** The steps a recovery may start from. */
export function recoverableFrom(steps: readonly StepState[]): number[] {
  const well = endedWell(steps);
  return [...steps.keys()].filter((index) => steps[index]?.dependencies.every((one) => well[one] === true) === true);
}

export interface FlowActions {
  start: boolean;
  pause: boolean;
  resume: boolean;
  cancel: boolean;
  recover: boolean;
  rerun: boolean;
  remove: boolean;
}

export function actionsOf(flow: {
  status: FlowStatus;
  recovery_attempts: number;
  max_recovery_attempts: number;
}): FlowActions {
  const { status } = flow;
  const ended = status === "completed" || status === "failed" || status === "cancelled";
  return {
    start: status === "pending",
    pause: status === "running",
    resume: status === "paused",
    cancel: !ended,
    recover: status === "failed" && flow.recovery_attempts < flow.max_recovery_attempts,
    rerun: ended,
    remove: ended,
  };
}

export function isFlowActive(status: FlowStatus): boolean {
  return !(status === "completed" || status === "failed" || status === "cancelled");
}

/** Progress of a step, 0 to 100; null: it does not report any. */
export function stepPercent({ status, progress, entries }: Pick<FlowStep, "status" | "progress" | "entries">) {
  if (status === "completed") return 100;
  if (entries !== null && entries.total > 0) return ((entries.total - entries.open) / entries.total) * 100;
  return status === "running" && progress > 0 ? progress : null;
}

/** Its duration so far; null: it has not started. */
export function stepMs(
  {
    started_at,
    completed_at,
    actual_duration,
    status,
  }: Pick<FlowStep, "started_at" | "completed_at" | "actual_duration" | "status">,
  now: number,
): number | null {
  if (actual_duration !== null) return actual_duration * 1000;
  if (started_at === null || status === "skipped") return null;
  return Math.max(0, (completed_at === null ? now : Date.parse(completed_at)) - Date.parse(started_at));
}

/** The second line of a step: its most important fact. */
export function stepLine(step: FlowStep, now: number, outcome = ""): string {
  const { status, entries, error_message, retry_count, max_retries, next_try_at, waiting_for } = step;
  const took = stepMs(step, now);
  if (status === "retrying") {
    const when = next_try_at === null ? "" : ` ${relativeTime(Date.parse(next_try_at), now)}`;
    return `Retry ${retry_count} of ${max_retries}${when}${error_message === null ? "" : `: ${error_message}`}`;
  }
  if (status === "skipped") return isConditional(error_message) ? "Condition not met" : (error_message ?? "");
  if (status === "failed") return error_message ?? "";
  if (entries !== null && status !== "completed") return entriesLine(entries);
  if (status === "running") {
    const waits = waitLine(waiting_for, now);
    return waits ?? step.progress_message ?? (took === null ? "" : duration(took));
  }
  if (status === "queued") return waitLine(waiting_for, now) ?? "";
  if (status === "completed")
    return [outcome, entries === null ? "" : `${shortNumber(entries.total)}×`, took === null ? "" : duration(took)]
      .filter((part) => part !== "")
      .join(" · ");
  return "";
}

/** Skipped by its own condition, which the step's panel shows. */
export function isConditional(why: string | null): boolean {
  return why?.startsWith("its condition is not met") ?? false;
}

export function entriesLine({ total, open, failed }: NonNullable<FlowStep["entries"]>): string {
  return `${fullNumber(total - open)} of ${fullNumber(total)}${failed === 0 ? "" : `, ${fullNumber(failed)} failed`}`;
}

export function waitLine(waiting: FlowStep["waiting_for"], now: number): string | null {
  if (waiting === null) return null;
  if (waiting.for === "time")
    return waiting.until ? `Waits, continues ${relativeTime(Date.parse(waiting.until), now)}` : "Waits";
  // The server's message contains an exact time: the remaining time reads faster.
  const { message, until = null } = waiting;
  const when = whenWords({ reason: waiting.for, message, until }, now);
  return when === null ? message : `${withoutTime(message)} · ${when}`;
}

/** A failed or cancelled workflow is measured by its completed steps: the others have ended, too, but not well. */
export function stepsDone(status: FlowStatus, counts: WorkflowProgress["counts"], total: number): string {
  const of = `of ${count(total, "step")}`;
  return status === "failed" || status === "cancelled"
    ? `${counts.completed} ${of} completed`
    : `${counts.completed + counts.failed + counts.skipped + counts.cancelled} ${of} done`;
}

/** "Completed 3, failed 1, skipped 2". */
export function countsLine(counts: WorkflowProgress["counts"]): string {
  const parts = Object.entries(counts).flatMap(([state, value]) => (value === 0 ? [] : [`${value} ${state}`]));
  return sentence(parts.join(", "));
}

/** "a, b and c"; of many only the first. */
export function namesOf(steps: readonly { task_name: string }[], indices: readonly number[], most = 6): string {
  const names = indices.map((index) => steps[index]?.task_name ?? "");
  if (names.length > most) return `${names.slice(0, most).join(", ")} and ${names.length - most} more`;
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

/** Items in one response of the server. */
export const ITEMS_AT_ONCE = 1000;

/** Where all items of a step are: in one response, or in their file (its id); otherwise no link. */
export function itemsToFetch({ items_count, artifacts }: Pick<StepDetail, "items_count" | "artifacts">): {
  words: string;
  file: string | null;
} {
  if ((items_count ?? 0) <= ITEMS_AT_ONCE) return { words: "All as JSON", file: null };
  const [kept, ...others] = artifacts.filter(({ role }) => role === "items");
  return kept !== undefined && others.length === 0
    ? { words: "All as JSON Lines", file: kept.id }
    : { words: `First ${fullNumber(ITEMS_AT_ONCE)} as JSON`, file: null };
}
