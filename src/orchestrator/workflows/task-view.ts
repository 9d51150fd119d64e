import { isoOf, isoOrNull } from "../../base/iso.ts";
import type { FailureCode, FailureReason } from "../../domain/run/failure.ts";
import type { Attempt } from "../../domain/run/outcome.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { OPEN_TASK_STATES, type TaskState } from "../../domain/run/states.ts";
import type { StepPayload, StepResult } from "../../domain/workflow/definition.ts";
import { withArtifactId } from "../../domain/workflow/output-files.ts";
import { shownEntry } from "../../domain/workflow/sealed-entries.ts";
import type { TaskRecord } from "../../store/records/run-records.ts";
import type { StepRecord, StepWait } from "../../store/ports/workflow-port.ts";
import type { ArtifactRecord } from "../../store/records/output-records.ts";
import { type ArtifactView, toArtifactView } from "../runs/view.ts";
import type { StepWaiting } from "../runs/step-waiting.ts";

/** A step of a run as `/workflows/{id}/tasks` shows it. */
export interface WorkflowTaskView {
  id: string;
  workflow_id: string;
  task_name: string;
  task_type: string;
  status: TaskState;
  step_index: number;
  engine_task_id: string | null;
  retry_count: number;
  max_retries: number;
  /** Indices of the steps it depends on. */
  dependencies: number[];
  dependency_names: string[];
  result: Record<string, JsonValue> | null;
  /** Number of its output items. */
  items_count: number | null;
  error_message: string | null;
  failure_code: FailureCode | null;
  failure_reason: FailureReason | null;
  started_at: string | null;
  completed_at: string | null;
  next_try_at: string | null;
  /** Seconds. */
  estimated_duration: number | null;
  actual_duration: number | null;
  /** In percent. */
  progress: number;
  progress_message: string | null;
  waiting_for: StepWaiting | null;
  child_run_ids: string[];
  /** Of a `for_each` step. */
  entries: StepRecord["items"];
  attempts: Attempt[];
  artifacts: ArtifactView[];
  created_at: string;
  updated_at: string;
}

/** The run that the step belongs to. */
interface StepOwner {
  runId: string;
  /** The names of all steps, by index. */
  names: readonly string[];
}

export function toTaskView(
  step: StepRecord,
  { runId, names }: StepOwner,
  artifacts: readonly ArtifactRecord[],
  waiting: StepWaiting | null,
): WorkflowTaskView {
  const { task } = step;
  const done = resultOf(task);
  const status = statusOf(task.state, step.waiting);
  const isOver = !OPEN_TASK_STATES.includes(task.state);
  return {
    id: task.id,
    workflow_id: runId,
    task_name: step.name,
    task_type: step.kind,
    status,
    step_index: step.index,
    engine_task_id: step.engineTaskId,
    retry_count: isOver ? Math.max(0, task.tries - 1) : task.tries,
    max_retries: step.maxRetries,
    dependencies: [...step.dependencies],
    dependency_names: step.dependencies.map((index) => names[index] ?? ""),
    result: done === null ? null : withArtifactId(done.output, artifacts),
    items_count: done?.items?.count ?? null,
    ...failureOf(task),
    started_at: isoOrNull(step.startedAt),
    completed_at: isoOrNull(task.endedAt),
    next_try_at: status === "retrying" ? isoOf(task.readyAt) : null,
    estimated_duration: step.estimatedMs === null ? null : step.estimatedMs / 1000,
    actual_duration: durationOf(step),
    progress: task.state === "completed" ? 100 : Math.min(99, Math.floor(step.progress * 100)),
    // Its last progress message is outdated.
    progress_message: task.state === "completed" ? null : step.progressMessage,
    waiting_for: waiting,
    child_run_ids: [...step.childRuns],
    entries: step.items,
    attempts: task.attempts,
    artifacts: artifacts.map(toArtifactView),
    created_at: isoOf(task.createdAt),
    updated_at: isoOf(step.updatedAt),
  };
}

/** A sleeping step counts as running: it has started and continues by itself. */
export function statusOf(state: TaskState, waiting: StepWait | null): TaskState {
  return state === "retrying" && waiting !== null ? "running" : state;
}

function durationOf({ startedAt, task }: StepRecord): number | null {
  return startedAt === null || task.endedAt === null ? null : Math.max(0, task.endedAt - startedAt) / 1000;
}

export function resultOf({ state, detail }: Pick<TaskRecord, "state" | "detail">): StepResult | null {
  if (state !== "completed" || typeof detail !== "object" || detail === null) return null;
  const { output = {}, items = null } = detail as Partial<StepResult>;
  return { output, items };
}

/** Why it failed or was skipped. */
function failureOf({ state, failure, detail }: TaskRecord) {
  const why = state === "skipped" ? ((detail as { why?: string } | null)?.why ?? null) : null;
  return {
    error_message: failure?.message ?? why,
    failure_code: failure?.code ?? null,
    failure_reason: failure?.reason ?? null,
  };
}

/** One entry of a `for_each` step. */
export interface EntryView {
  id: string;
  index: number;
  item: JsonValue;
  status: TaskState;
  retry_count: number;
  result: Record<string, JsonValue> | null;
  error_message: string | null;
  failure_code: FailureCode | null;
  failure_reason: FailureReason | null;
  attempts: Attempt[];
  created_at: string;
  completed_at: string | null;
}

export function toEntryView(task: TaskRecord): EntryView {
  const { item } = task.payload as StepPayload;
  return {
    id: task.id,
    index: item?.index ?? 0,
    item: shownEntry(item?.value ?? null),
    status: task.state,
    retry_count: OPEN_TASK_STATES.includes(task.state) ? task.tries : Math.max(0, task.tries - 1),
    result: resultOf(task)?.output ?? null,
    ...failureOf(task),
    attempts: task.attempts,
    created_at: isoOf(task.createdAt),
    completed_at: isoOrNull(task.endedAt),
  };
}
