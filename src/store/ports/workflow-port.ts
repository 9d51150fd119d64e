/** Store methods and records for workflows: runs whose tasks are steps with dependencies. */
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import type { RunState } from "../../domain/run/states.ts";
import type { ItemsFile } from "../../domain/workflow/definition.ts";
import type { ClaimedTask, LaneHold, NewRun, NewTask, RunRecord, TaskRecord } from "../records/run-records.ts";

export interface WorkflowRecord {
  run: RunRecord;
  totalSteps: number;
  /**
   * Index of the first step that has not ended; totalSteps when all have. For a failed workflow: of the first failed
   * step.
   */
  currentStep: number;
  /** Completed, failed, skipped or cancelled. */
  endedSteps: number;
  metadata: Readonly<Record<string, JsonValue>>;
  recoveryAttempts: number;
  maxRecoveryAttempts: number;
  template: { name: string; version: number } | null;
  rerunOf: string | null;
  /** Last write that a restart resumes from. */
  lastCheckpoint: number | null;
  updatedAt: number;
  errorMessage: string | null;
}

export interface StepRecord {
  task: TaskRecord;
  index: number;
  name: string;
  kind: string;
  dependencies: readonly number[];
  maxRetries: number;
  estimatedMs: number | null;
  /** Start in the current generation; waiting counts. */
  startedAt: number | null;
  updatedAt: number;
  /** 0 to 1, as the step last reported. */
  progress: number;
  progressMessage: string | null;
  waiting: StepWait | null;
  /** For a `for_each` step. */
  items: { total: number; open: number; completed: number; failed: number; skipped: number } | null;
  /** Child runs it has started, newest last. */
  childRuns: readonly string[];
  /** The lane's name once the engine has run it; its id in the engine. */
  engineTaskId: string | null;
}

export type StepWait = { for: "time"; until: number } | { for: "run"; runId: string } | { for: "items"; open: number };

/** How a step goes to sleep: `settle` writes it with the verdict `wait`. Spends no attempt. */
export interface StepSleep {
  memory: JsonValue;
  /** Wakes it at the latest; null: only the awaited event does. */
  until: number | null;
  /** Remaining time of the attempt; the step wakes when it has passed, too. */
  leftMs?: number;
  /** Created in the same transaction; its end wakes the step. */
  child?: { run: NewRun; tasks: readonly NewTask[] };
  /** Waits for its added items; at most `concurrency` are open at a time. */
  items?: { concurrency: number; stopAtFailure: boolean };
}

export interface RecoveriesTakenUp {
  lanes: string[];
  more: boolean;
  /** Workflows that cannot be recovered, and why; the others continue. */
  stuck?: readonly string[];
}

export interface WorkflowFilter {
  /** `active`: running or recovering; `recoverable`: failed with recoveries left; or a state. */
  status?: readonly RunState[] | "recoverable";
  jobId?: string;
  template?: string;
  q?: string;
  after?: string;
  limit: number;
}

export interface TemplateRecord {
  name: string;
  version: number;
  definition: JsonValue;
  createdAt: number;
}

export interface WorkflowStore {
  /** queued → running: steps without dependencies get work. Idempotent. Returns the lanes that got work. */
  startWorkflow(id: string, now: number): Promise<{ run: RunRecord; lanes: string[] }>;
  workflow(id: string): Promise<WorkflowRecord | null>;
  /** The input it was started with, possibly large; null: no such workflow. */
  workflowSnapshot(id: string): Promise<unknown>;
  workflows(filter: WorkflowFilter): Promise<WorkflowRecord[]>;
  /** The steps of a run in their order: all, or those with these indices. */
  steps(runId: string, indices?: readonly number[]): Promise<StepRecord[]>;
  /** All steps, without the outputs of completed ones, which may be large. */
  stepsInBrief(runId: string): Promise<StepRecord[]>;
  /**
   * Items of a `for_each` step, in list order; `after` is a task id. `mostBytes` ends a page before `limit` once
   * payloads and outputs of that size were read; an empty page means the end.
   */
  stepItems(
    runId: string,
    step: number,
    options: { states?: readonly TaskRecord["state"][]; after?: string; limit: number; mostBytes?: number },
  ): Promise<TaskRecord[]>;
  /** Child runs started by the task of a step or an item in its current generation, oldest first. */
  childRuns(taskId: string): Promise<string[]>;
  /** The step or item that the engine last had under this id. */
  stepByEngineId(engineId: string): Promise<{ runId: string; step: StepRecord; item: TaskRecord | null } | null>;
  /** Keys that are null are removed. */
  changeMetadata(id: string, change: Readonly<Record<string, JsonValue>>, now: number): Promise<WorkflowRecord>;
  /**
   * failed → recovering: records what to redo; an engine then does it (`takeUpRecoveries`). `from` is a step's index:
   * redoes that step and all that depend on it, nothing else; null: all that did not complete. Throws
   * `illegal_transition` when it is not failed, `recovery_exhausted` when no recoveries are left.
   */
  recoverWorkflow(id: string, from: number | null, now: number): Promise<RunRecord>;
  /**
   * recovering → running, in transactions of bounded size; returns the lanes that got work. An engine calls it
   * repeatedly.
   */
  takeUpRecoveries(limit: number, now: number): Promise<RecoveriesTakenUp>;
  /**
   * Hides an ended workflow and its child runs at once; `removeExpired` removes the rows. Throws `illegal_transition`
   * while it has not ended.
   */
  deleteWorkflow(id: string, now: number): Promise<void>;

  /**
   * Subtracts elapsed running time from the remaining time of sleeping steps in running workflows, and wakes those
   * without any left. Returns the lanes that got work.
   */
  passStepTime(elapsedMs: number, now: number): Promise<string[]>;
  /** Remaining time of the attempt of a step that slept; null: it has not slept, or has no time limit. */
  stepTimeLeft(taskId: string, now: number): Promise<number | null>;

  // Methods for the owner of a step. null: the lane is no longer ours, or the run has ended.
  /**
   * Adds list items to a step; `first` is the index of the first. If the list's hash is the one of earlier items,
   * completed items stay and the others are reset; otherwise all start over.
   */
  addStepItems(
    hold: LaneHold,
    task: ClaimedTask,
    part: { listHash: string; first: number; values: readonly JsonValue[] },
    now: number,
  ): Promise<true | null>;
  /** Skips up to `limit` items that have not started; returns how many. */
  skipStepItems(hold: LaneHold, task: ClaimedTask, limit: number, why: string, now: number): Promise<number | null>;
  noteStepProgress(
    hold: LaneHold,
    task: ClaimedTask,
    progress: { fraction: number; message: string | null },
    now: number,
  ): Promise<true | null>;

  /**
   * Durations of the last completions by step name, newest first, in runs of the same template, job or workflow name.
   */
  stepDurations(of: { template?: string; jobId?: string; name: string }, limit: number): Promise<Map<string, number[]>>;
  /**
   * A step's items in the previous completed run of the same job; without a job, of a similar run, or the run that this
   * one repeats.
   */
  lastItems(runId: string, step: string): Promise<ItemsFile | null>;

  // Templates: each change is a new version.
  /**
   * A definition equal to the newest one creates no new version. `first` is the number of the first stored version; a
   * built-in template has the earlier ones. `version`: throws `version_conflict` unless it is the newest; `first - 1`
   * means none.
   */
  putTemplate(
    name: string,
    definition: JsonValue,
    first: number,
    now: number,
    version?: number,
  ): Promise<TemplateRecord>;
  /** Default: the newest version. */
  template(name: string, version?: number): Promise<TemplateRecord | null>;
  /** The newest version of each, by name. */
  templates(): Promise<TemplateRecord[]>;
  /** Newest first. */
  templateVersions(name: string): Promise<TemplateRecord[]>;
  /** Deletes all versions; returns how many. Runs keep the definition they started with. */
  deleteTemplate(name: string): Promise<number>;
}
