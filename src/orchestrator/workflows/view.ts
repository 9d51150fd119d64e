import { isoOf, isoOrNull } from "../../base/iso.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import type { RunState } from "../../domain/run/states.ts";
import type { WaitingView } from "../../domain/run/waiting.ts";
import type { CreatedSnapshot, WorkflowDefinition, WorkflowSnapshot } from "../../domain/workflow/definition.ts";
import { shownDefinition, shownParams } from "../../domain/workflow/secrets/secrets.ts";
import type { RunRecord } from "../../store/records/run-records.ts";
import type { WorkflowRecord } from "../../store/ports/workflow-port.ts";
import { progressOf } from "../runs/view.ts";

/** A workflow as `/workflows` returns it. */
export interface WorkflowView {
  id: string;
  job_id: string | null;
  name: string;
  status: WorkflowStatus;
  /** Index of the first step that has not ended; of a failed workflow, of the step to recover from. */
  current_step: number;
  /** Steps that have ended: those after the current one included. */
  ended_steps: number;
  total_steps: number;
  progress: number;
  metadata: Record<string, JsonValue>;
  error_message: string | null;
  recovery_attempts: number;
  max_recovery_attempts: number;
  template: { name: string; version: number } | null;
  rerun_of: string | null;
  message: string | null;
  /** What blocks it. */
  waiting_for: WaitingView | null;
  created_at: string;
  started_at: string | null;
  completed_at: string | null;
  last_checkpoint: string | null;
  updated_at: string;
}

export interface WorkflowDetail extends WorkflowView {
  /** As validated: defaults filled in, dependencies as indices, secrets masked as `***`. */
  definition: WorkflowDefinition;
  params: Record<string, JsonValue>;
  /** When it is deleted with its results; null: it has not ended, or no time is set. */
  expires_at: string | null;
}

export type WorkflowStatus = Exclude<RunState, "queued" | "partial" | "waiting_for_human"> | "pending";
export const WORKFLOW_STATUSES = [
  "pending",
  "running",
  "paused",
  "recovering",
  "completed",
  "failed",
  "cancelled",
] as const satisfies readonly WorkflowStatus[];

/**
 * The workflow API says `pending` for steps that have not started. A workflow is never `partial` and waits for no
 * person.
 */
export function workflowStatusOf(state: RunState): WorkflowStatus {
  return state === "queued" ? "pending" : (state as WorkflowStatus);
}

export function runStateOf(status: WorkflowStatus): RunState {
  return status === "pending" ? "queued" : status;
}

export function toWorkflowView(record: WorkflowRecord, waiting: WaitingView | null): WorkflowView {
  const { run } = record;
  return {
    id: run.id,
    job_id: run.jobId,
    name: run.name ?? "",
    status: workflowStatusOf(run.status),
    current_step: record.currentStep,
    ended_steps: record.endedSteps,
    total_steps: record.totalSteps,
    progress: progressOf(run),
    metadata: { ...record.metadata },
    error_message: record.errorMessage,
    recovery_attempts: record.recoveryAttempts,
    max_recovery_attempts: record.maxRecoveryAttempts,
    template: record.template,
    rerun_of: record.rerunOf,
    message: run.message,
    waiting_for: waiting,
    created_at: isoOf(run.createdAt),
    started_at: isoOrNull(run.startedAt),
    completed_at: isoOrNull(run.finishedAt),
    last_checkpoint: isoOrNull(record.lastCheckpoint),
    updated_at: isoOf(record.updatedAt),
  };
}

export function toWorkflowDetail(
  record: WorkflowRecord,
  { definition, params }: WorkflowSnapshot,
  { waiting, expiresAt }: { waiting: WaitingView | null; expiresAt: number | null },
): WorkflowDetail {
  return {
    ...toWorkflowView(record, waiting),
    definition: shownDefinition(definition),
    params: { ...shownParams(definition.params, params) },
    expires_at: isoOrNull(expiresAt),
  };
}

/** The response to its creation, identical for repeated calls. */
export function toNewWorkflowView(run: RunRecord, rerunOf: string | null): WorkflowDetail {
  const snapshot = run.snapshot as CreatedSnapshot;
  const { definition, template, metadata } = snapshot;
  const record: WorkflowRecord = {
    run,
    totalSteps: definition.steps.length,
    currentStep: 0,
    endedSteps: 0,
    metadata,
    recoveryAttempts: 0,
    maxRecoveryAttempts: definition.max_recovery_attempts,
    template,
    rerunOf,
    lastCheckpoint: null,
    updatedAt: run.createdAt,
    errorMessage: null,
  };
  return toWorkflowDetail(record, snapshot, { waiting: null, expiresAt: null });
}
