import { OrbError } from "../../base/errors.ts";
import { expiryOf, type RetentionRules } from "../../domain/run/retention.ts";
import { OPEN_TASK_STATES, RUN_STATES, type RunState, type TaskState } from "../../domain/run/states.ts";
import { retryMayHelp } from "../../domain/run/classify.ts";
import type { StepRecord, WorkflowFilter, WorkflowRecord } from "../../store/ports/workflow-port.ts";
import type { OrchestratorDeps } from "../deps.ts";
import type { StepWaiting } from "../runs/step-waiting.ts";
import { type RunWaitDeps, waitingOfRun, waitingOfSteps } from "../runs/waiting.ts";
import { type NoWorkers, noWorkersReason } from "../workers/worker-availability.ts";
import { requireSnapshot, requireWorkflow } from "./control.ts";
import { type EntryView, statusOf, toEntryView, toTaskView, type WorkflowTaskView } from "./task-view.ts";
import {
  runStateOf,
  toWorkflowDetail,
  toWorkflowView,
  type WorkflowDetail,
  type WorkflowStatus,
  type WorkflowView,
} from "./view.ts";

/** Filters of lists besides the state. */
export const STATUS_GROUPS = ["active", "recoverable"] as const;
type StatusGroup = (typeof STATUS_GROUPS)[number];

interface WorkflowListFilter extends Omit<WorkflowFilter, "status"> {
  status?: WorkflowStatus | StatusGroup;
}

export async function listWorkflows(
  deps: RunWaitDeps,
  { status, ...filter }: WorkflowListFilter,
): Promise<WorkflowView[]> {
  const states = status === undefined ? {} : { status: statesOf(status) };
  const records = await deps.store.workflows({ ...filter, ...states });
  const noWorkers = await noWorkersReason(deps);
  return Promise.all(
    records.map(async (record) => toWorkflowView(record, await waitingOfRun(deps, record.run, noWorkers))),
  );
}

function statesOf(status: WorkflowStatus | StatusGroup): NonNullable<WorkflowFilter["status"]> {
  if (status === "recoverable") return "recoverable";
  return status === "active" ? ["running", "recovering"] : [runStateOf(status)];
}

type DetailDeps = RunWaitDeps & { retention: RetentionRules };

export async function showWorkflow(deps: DetailDeps, id: string): Promise<WorkflowDetail> {
  return detailOf(deps, await requireWorkflow(deps, id));
}

async function detailOf(deps: DetailDeps, record: WorkflowRecord): Promise<WorkflowDetail> {
  const waiting = await waitingOfRun(deps, record.run, await noWorkersReason(deps));
  const { expiresAt } = expiryOf(record.run, deps.retention);
  return toWorkflowDetail(record, await requireSnapshot(deps, record.run.id), { waiting, expiresAt });
}

/** The newest workflow of a job. */
export async function showWorkflowOfJob(deps: DetailDeps, jobId: string): Promise<WorkflowDetail> {
  const [newest] = await deps.store.workflows({ jobId, limit: 1 });
  if (newest === undefined) throw new OrbError("not_found", `the job ${jobId} has not started a workflow yet`);
  return detailOf(deps, newest);
}

/** The steps of a run, by index. */
export async function listWorkflowTasks(
  deps: RunWaitDeps,
  id: string,
  filter: StepsWanted,
): Promise<WorkflowTaskView[]> {
  await requireWorkflow(deps, id);
  return readSteps(deps, id, filter, await noWorkersReason(deps));
}

interface StepsWanted {
  status?: StepFilter;
  after?: number;
  limit: number;
}

async function readSteps(
  deps: RunWaitDeps,
  id: string,
  { status, after = -1, limit }: StepsWanted,
  noWorkers: NoWorkers | null,
): Promise<WorkflowTaskView[]> {
  const all = await deps.store.stepsInBrief(id);
  const names = all.map(({ name }) => name);
  const chosen = all
    .filter(({ index }) => index > after)
    .filter((step) => isMeant(step, status))
    .slice(0, limit);
  if (chosen.length === 0) return [];
  const steps = await deps.store.steps(
    id,
    chosen.map(({ index }) => index),
  );
  const waits = await waitingOfSteps(deps, steps, noWorkers);
  return Promise.all(steps.map((step, at) => viewOf(deps, step, { runId: id, names }, waits[at] ?? null)));
}

const WORKFLOWS_AT_ONCE = 50;

/** Steps of all workflows, newest workflow first; `after` is the last step of the previous page. */
export async function listAllWorkflowTasks(
  deps: RunWaitDeps,
  { status, after, limit }: { status?: StepFilter; after?: { workflowId: string; index: number }; limit: number },
): Promise<WorkflowTaskView[]> {
  const found: WorkflowTaskView[] = [];
  const noWorkers = await noWorkersReason(deps);
  const add = async (id: string, behind = -1) => {
    const wanted = { limit: limit - found.length, after: behind, ...(status === undefined ? {} : { status }) };
    // A workflow deleted meanwhile has no steps.
    found.push(...(await readSteps(deps, id, wanted, noWorkers)));
  };
  if (after !== undefined) await add(after.workflowId, after.index);
  const states = status === undefined ? {} : { status: workflowsWith(status) };
  let last = after?.workflowId;
  while (found.length < limit) {
    const behind = last === undefined ? {} : { after: last };
    const records = await deps.store.workflows({ ...states, ...behind, limit: WORKFLOWS_AT_ONCE });
    for (const { run } of records) if (found.length < limit) await add(run.id);
    last = records.at(-1)?.run.id;
    if (records.length < WORKFLOWS_AT_ONCE) break;
  }
  return found;
}

/** Workflows that may have steps in this state: an ended workflow has no open step. */
function workflowsWith(status: StepFilter): RunState[] {
  const open: RunState[] = ["queued", "running", "recovering", "paused", "waiting_for_human"];
  if (status === "retryable") return [...open, "failed"];
  return OPEN_TASK_STATES.includes(status) ? open : [...RUN_STATES];
}

type StepFilter = TaskState | "retryable";

/** `retryable`: it is retried automatically, or failed for a reason that another attempt may overcome. */
function isMeant({ task, waiting }: StepRecord, status: StepFilter | undefined): boolean {
  const state = statusOf(task.state, waiting);
  if (status !== "retryable") return status === undefined || state === status;
  return state === "retrying" || (state === "failed" && task.failure !== null && retryMayHelp(task.failure.reason));
}

async function viewOf(
  { store }: OrchestratorDeps,
  step: StepRecord,
  owner: { runId: string; names: string[] },
  waiting: StepWaiting | null,
) {
  // Only ended tasks have files.
  const artifacts = step.task.endedAt === null ? [] : await store.artifactsOf(step.task.id);
  return toTaskView(step, owner, artifacts, waiting);
}

/** One step, by the id of its task or by its name. */
export async function requireStep({ store }: OrchestratorDeps, id: string, task: string): Promise<StepRecord> {
  const step = (await store.steps(id)).find((one) => one.task.id === task || one.name === task);
  if (step === undefined) throw new OrbError("not_found", `the workflow has no task with the id or the name ${task}`);
  return step;
}

export async function showWorkflowTask(deps: RunWaitDeps, id: string, task: string): Promise<WorkflowTaskView> {
  await requireWorkflow(deps, id);
  const { index } = await requireStep(deps, id, task);
  const [view] = await listWorkflowTasks(deps, id, { after: index - 1, limit: 1 });
  return view!;
}

/** The step that has, or last had, this engine id. */
export async function findByEngineId(deps: RunWaitDeps, engineId: string): Promise<WorkflowTaskView> {
  const found = await deps.store.stepByEngineId(engineId);
  if (found === null) throw new OrbError("not_found", `no step has the engine task id ${engineId}`);
  return showWorkflowTask(deps, found.runId, found.step.task.id);
}

/** Entries of a step with `for_each`, in the order of the list. */
export async function listEntries(
  deps: OrchestratorDeps,
  id: string,
  task: string,
  { status, ...window }: { status?: TaskState; after?: string; limit: number },
): Promise<EntryView[]> {
  await requireWorkflow(deps, id);
  const { index } = await requireStep(deps, id, task);
  const entries = await deps.store.stepItems(id, index, {
    ...window,
    ...(status === undefined ? {} : { states: [status] }),
  });
  return entries.map(toEntryView);
}
