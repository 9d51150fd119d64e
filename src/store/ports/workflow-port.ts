/** Store methods and records for workflows: runs whose tasks are steps with dependencies. */
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import type { RunState } from "../../domain/run/states.ts";
import type { ItemsFile } from "../../domain/workflow/definition.ts";
import type { ClaimedTask, LaneHold, NewRun, NewTask, RunRecord, TaskRecord } from "../records/run-records.ts";

export interface WorkflowRecord {
  run: RunRecord;
  totalSteps: number;
  /** The index of the first step that has not ended; totalSteps when all have. Of a failed one: of the first that failed. */
  currentStep: number;
  metadata: Readonly<Record<string, JsonValue>>;
  recoveryAttempts: number;
  maxRecoveryAttempts: number;
  template: { name: string; version: number } | null;
  rerunOf: string | null;
  /** When something of it was last written that a restart goes on from. */
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
  /** Of the present generation: since when it has been at work, waiting included. */
  startedAt: number | null;
  updatedAt: number;
  /** 0 to 1, as the step last said. */
  progress: number;
  progressMessage: string | null;
  /** What it sleeps for. */
  waiting: StepWait | null;
  /** Of a step that is done once for every entry of a list. */
  items: { total: number; open: number; completed: number; failed: number; skipped: number } | null;
  /** Child runs it has started, newest last. */
  childRuns: readonly string[];
  /** The lane's name once the engine has had it; what the engine knows it by. */
  engineTaskId: string | null;
}

export type StepWait = { for: "time"; until: number } | { for: "run"; runId: string } | { for: "items"; open: number };

/** How a step goes to sleep: written by `settle` as the verdict `wait`. No attempt is spent. */
export interface StepSleep {
  memory: JsonValue;
  /** Wakes it at the latest; null: only what it waits for does. */
  until: number | null;
  /** What is left of the time of its try; when that has passed, it is woken, too. */
  leftMs?: number;
  /** Created in the same transaction; its end wakes the step. */
  child?: { run: NewRun; tasks: readonly NewTask[] };
  /** It waits for the entries that were added for it; as many as `concurrency` are open at a time. */
  items?: { concurrency: number; stopAtFailure: boolean };
}

export interface RecoveriesTakenUp {
  lanes: string[];
  more: boolean;
  /** Those that cannot be taken up, and why; the others go on all the same. */
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
  /** queued → running: steps that wait for nobody get work. Starting twice is no mistake. Says which lanes got work. */
  startWorkflow(id: string, now: number): Promise<{ run: RunRecord; lanes: string[] }>;
  /** Without its snapshot, as everywhere. */
  workflow(id: string): Promise<WorkflowRecord | null>;
  /** What it was started with, which may be long; null: it is not there. */
  workflowSnapshot(id: string): Promise<unknown>;
  workflows(filter: WorkflowFilter): Promise<WorkflowRecord[]>;
  /** The steps of a run in their order: all, or those with these indices. */
  steps(runId: string, indices?: readonly number[]): Promise<StepRecord[]>;
  /** All of them, without what the completed ones have put out, which may be long. */
  stepsInBrief(runId: string): Promise<StepRecord[]>;
  /**
   * Entries of a step with a `for_each`, in the order of the list; `after` is the id of one. With `mostBytes` there are fewer
   * than `limit` when so much has been read of what they are made of and have left; none only at the end.
   */
  stepItems(
    runId: string,
    step: number,
    options: { states?: readonly TaskRecord["state"][]; after?: string; limit: number; mostBytes?: number },
  ): Promise<TaskRecord[]>;
  /** Child runs that the task of a step, or of an entry, has started in its present generation, oldest first. */
  childRuns(taskId: string): Promise<string[]>;
  /** The step (or entry) that the engine last had under this id. */
  stepByEngineId(engineId: string): Promise<{ runId: string; step: StepRecord; item: TaskRecord | null } | null>;
  /** Keys that are null are removed. */
  changeMetadata(id: string, change: Readonly<Record<string, JsonValue>>, now: number): Promise<WorkflowRecord>;
  /**
   * failed → recovering: notes what is to be done again, which an engine then does (`takeUpRecoveries`). `from` is the index
   * of a step: it and all that follow from it are done again, and nothing else; null: all that did not complete. Refuses
   * (illegal_transition) when it is not failed, (recovery_exhausted) when there were as many recoveries as there may be.
   */
  recoverWorkflow(id: string, from: number | null, now: number): Promise<RunRecord>;
  /** recovering → running, in transactions of bounded size; says which lanes got work. Called by an engine again and again. */
  takeUpRecoveries(limit: number, now: number): Promise<RecoveriesTakenUp>;
  /**
   * Hides an ended workflow and the runs that its steps have started: nobody sees anything of them when this answers, and
   * `removeExpired` removes it. Refuses (illegal_transition) while it is not at its end.
   */
  deleteWorkflow(id: string, now: number): Promise<void>;

  /**
   * Running time has passed since this was called last: it is taken from what sleeping steps of running workflows have left.
   * Those that have nothing left wake. Says which lanes got work.
   */
  passStepTime(elapsedMs: number, now: number): Promise<string[]>;
  /** What a step that went to sleep has left of the time of its try; null: it has not slept, or may take as long as it likes. */
  stepTimeLeft(taskId: string, now: number): Promise<number | null>;

  // Methods of the owner of a step. null: the lane is not ours any more, or the run has ended.
  /**
   * Adds entries of a list to a step, `first` is the index of the first of them. The list's hash says whether it is the one
   * that entries were added of before: then those that completed stay, and others are put back; else all begin anew.
   */
  addStepItems(
    hold: LaneHold,
    task: ClaimedTask,
    part: { listHash: string; first: number; values: readonly JsonValue[] },
    now: number,
  ): Promise<true | null>;
  /** Ends up to `limit` entries that have not begun; returns how many there were. */
  skipStepItems(hold: LaneHold, task: ClaimedTask, limit: number, why: string, now: number): Promise<number | null>;
  noteStepProgress(
    hold: LaneHold,
    task: ClaimedTask,
    progress: { fraction: number; message: string | null },
    now: number,
  ): Promise<true | null>;

  /** How long the steps of this name took when they last completed, newest first, in runs of the same template or job (or name). */
  stepDurations(of: { template?: string; jobId?: string; name: string }, limit: number): Promise<Map<string, number[]>>;
  /**
   * The items of a step in the last completed run of the same job before this one; without a job, of one that is alike, or
   * that this one repeats.
   */
  lastItems(runId: string, step: string): Promise<ItemsFile | null>;

  // Templates: each change is a new version.
  /**
   * A definition that is equal to the newest one makes no new version. `first` is the number of the first version, where a
   * template that is built in has the ones before.
   */
  /** With a version: refused as `version_conflict` unless that is the newest one; `first - 1` stands for none. */
  putTemplate(
    name: string,
    definition: JsonValue,
    first: number,
    now: number,
    version?: number,
  ): Promise<TemplateRecord>;
  /** Without a version: the newest. */
  template(name: string, version?: number): Promise<TemplateRecord | null>;
  /** The newest of each, by name. */
  templates(): Promise<TemplateRecord[]>;
  /** Newest first. */
  templateVersions(name: string): Promise<TemplateRecord[]>;
  /** All versions; says how many there were. Runs keep what they began with. */
  deleteTemplate(name: string): Promise<number>;
}
