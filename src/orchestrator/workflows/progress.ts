import { NO_TASKS, type TaskCounts } from "../../domain/run/run-end.ts";
import { OPEN_TASK_STATES } from "../../domain/run/states.ts";
import { secondsLeft } from "../../domain/workflow/graph.ts";
import type { StepRecord, WorkflowRecord } from "../../store/ports/workflow-port.ts";
import type { OrchestratorDeps } from "../deps.ts";
import { type RunWaitDeps, waitingOfRun, waitingOfSteps } from "../runs/waiting.ts";
import { noWorkersReason } from "../workers/worker-availability.ts";
import { requireWorkflow } from "./control.ts";
import { statusOf, toTaskView, type WorkflowTaskView } from "./task-view.ts";
import { toWorkflowView, type WorkflowView } from "./view.ts";

/** Progress of a workflow, small enough to poll. */
export interface WorkflowProgress extends Pick<
  WorkflowView,
  | "job_id"
  | "name"
  | "status"
  | "progress"
  | "current_step"
  | "total_steps"
  | "error_message"
  | "recovery_attempts"
  | "max_recovery_attempts"
  | "started_at"
  | "completed_at"
  | "last_checkpoint"
  | "message"
  | "waiting_for"
> {
  workflow_id: string;
  /** The name of the current step; null: all have ended. */
  current_step_name: string | null;
  /** How many steps are in each state. */
  counts: TaskCounts;
  elapsed_seconds: number | null;
  /** From the duration of earlier steps, or from estimates; null: unknown, or nothing runs. */
  time_remaining_seconds: number | null;
  steps: StepProgress[];
}

const SHOWN = [
  "id",
  "task_name",
  "task_type",
  "status",
  "step_index",
  "dependencies",
  "retry_count",
  "max_retries",
  "progress",
  "progress_message",
  "waiting_for",
  "child_run_ids",
  "entries",
  "error_message",
  "failure_code",
  "failure_reason",
  "started_at",
  "completed_at",
  "next_try_at",
  "estimated_duration",
  "actual_duration",
] as const satisfies readonly (keyof WorkflowTaskView)[];

export type StepProgress = Pick<WorkflowTaskView, (typeof SHOWN)[number]>;

export async function showProgress(deps: RunWaitDeps, id: string): Promise<WorkflowProgress> {
  const record = await requireWorkflow(deps, id);
  const steps = await deps.store.stepsInBrief(id);
  const names = steps.map(({ name }) => name);
  const noWorkers = await noWorkersReason(deps);
  const view = toWorkflowView(record, await waitingOfRun(deps, record.run, noWorkers));
  const waits = await waitingOfSteps(deps, steps, noWorkers);
  const { startedAt, finishedAt } = record.run;
  return {
    workflow_id: id,
    job_id: view.job_id,
    name: view.name,
    status: view.status,
    progress: view.progress,
    current_step: view.current_step,
    current_step_name: names[view.current_step] ?? null,
    total_steps: view.total_steps,
    counts: countsOf(steps),
    elapsed_seconds: startedAt === null ? null : Math.max(0, (finishedAt ?? deps.clock.now()) - startedAt) / 1000,
    time_remaining_seconds: await timeRemaining(deps, record, steps),
    error_message: view.error_message,
    recovery_attempts: view.recovery_attempts,
    max_recovery_attempts: view.max_recovery_attempts,
    started_at: view.started_at,
    completed_at: view.completed_at,
    last_checkpoint: view.last_checkpoint,
    message: view.message,
    waiting_for: view.waiting_for,
    steps: steps.map((step, index) => shown(toTaskView(step, { runId: id, names }, [], waits[index] ?? null))),
  };
}

function shown(view: WorkflowTaskView): StepProgress {
  return Object.fromEntries(SHOWN.map((key) => [key, view[key]])) as unknown as StepProgress;
}

function countsOf(steps: readonly StepRecord[]): TaskCounts {
  const counts = { ...NO_TASKS };
  for (const { task, waiting } of steps) counts[statusOf(task.state, waiting)] += 1;
  return counts;
}

/** A longer history would not improve the estimate. */
const REMEMBERED = 10;

async function timeRemaining(
  { store, clock }: OrchestratorDeps,
  { run, template }: WorkflowRecord,
  steps: readonly StepRecord[],
): Promise<number | null> {
  if (run.status !== "queued" && run.status !== "running" && run.status !== "recovering") return null;
  const history = await store.stepDurations(
    {
      name: run.name ?? "",
      ...(template === null ? {} : { template: template.name }),
      ...(run.jobId === null ? {} : { jobId: run.jobId }),
    },
    REMEMBERED,
  );
  const left = secondsLeft(
    steps.map(({ name, dependencies, task, estimatedMs, startedAt, progress }) => ({
      dependencies,
      ended: !OPEN_TASK_STATES.includes(task.state),
      history: (history.get(name) ?? []).map((ms) => ms / 1000),
      estimate: estimatedMs === null ? null : estimatedMs / 1000,
      elapsed: startedAt === null ? null : Math.max(0, clock.now() - startedAt) / 1000,
      share: progress,
    })),
  );
  return left === null ? null : Math.round(left);
}
