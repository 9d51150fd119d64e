import { OrbError } from "../../base/errors.ts";
import type { TaskState } from "../../domain/states.ts";
import type { StepRecord, WorkflowFilter } from "../../store/workflow-port.ts";
import type { OrchestratorDeps } from "../deps.ts";
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

/** What lists may be narrowed to besides a state. */
export const STATUS_GROUPS = ["active", "recoverable"] as const;
export type StatusGroup = (typeof STATUS_GROUPS)[number];

export interface WorkflowListFilter extends Omit<WorkflowFilter, "status"> {
  status?: WorkflowStatus | StatusGroup;
}

export async function listWorkflows(
  { store }: OrchestratorDeps,
  { status, ...filter }: WorkflowListFilter,
): Promise<WorkflowView[]> {
  const states = status === undefined ? {} : { status: statesOf(status) };
  return (await store.workflows({ ...filter, ...states })).map(toWorkflowView);
}

function statesOf(status: WorkflowStatus | StatusGroup): NonNullable<WorkflowFilter["status"]> {
  if (status === "recoverable") return "recoverable";
  return status === "active" ? ["running", "recovering"] : [runStateOf(status)];
}

export async function showWorkflow(deps: OrchestratorDeps, id: string): Promise<WorkflowDetail> {
  return toWorkflowDetail(await requireWorkflow(deps, id), await requireSnapshot(deps, id));
}

/** The newest workflow of a job. */
export async function showWorkflowOfJob(deps: OrchestratorDeps, jobId: string): Promise<WorkflowDetail> {
  const [newest] = await deps.store.workflows({ jobId, limit: 1 });
  if (newest === undefined) throw new OrbError("not_found", `the job ${jobId} has had no workflow`);
  return toWorkflowDetail(newest, await requireSnapshot(deps, newest.run.id));
}

/** The steps of a run, by index. */
export async function listWorkflowTasks(
  deps: OrchestratorDeps,
  id: string,
  { status, after = -1, limit }: { status?: TaskState; after?: number; limit: number },
): Promise<WorkflowTaskView[]> {
  await requireWorkflow(deps, id);
  const all = await deps.store.stepsInBrief(id);
  const names = all.map(({ name }) => name);
  const chosen = all
    .filter(({ index }) => index > after)
    .filter(({ task, waiting }) => status === undefined || statusOf(task.state, waiting) === status)
    .slice(0, limit);
  const steps = await deps.store.steps(
    id,
    chosen.map(({ index }) => index),
  );
  return Promise.all(steps.map((step) => viewOf(deps, step, { runId: id, names })));
}

async function viewOf({ store }: OrchestratorDeps, step: StepRecord, place: { runId: string; names: string[] }) {
  // Only what has ended has files.
  const artifacts = step.task.endedAt === null ? [] : await store.artifactsOf(step.task.id);
  return toTaskView(step, place, artifacts);
}

/** One step, by the id of its task or by its name. */
export async function requireStep({ store }: OrchestratorDeps, id: string, task: string): Promise<StepRecord> {
  const step = (await store.steps(id)).find((one) => one.task.id === task || one.name === task);
  if (step === undefined) throw new OrbError("not_found", `the workflow has no task with the id or the name ${task}`);
  return step;
}

export async function showWorkflowTask(deps: OrchestratorDeps, id: string, task: string): Promise<WorkflowTaskView> {
  await requireWorkflow(deps, id);
  const { index } = await requireStep(deps, id, task);
  const [view] = await listWorkflowTasks(deps, id, { after: index - 1, limit: 1 });
  return view!;
}

/** The step that the engine has, or had last, under this id. */
export async function findByEngineId(deps: OrchestratorDeps, engineId: string): Promise<WorkflowTaskView> {
  const found = await deps.store.stepByEngineId(engineId);
  if (found === null) throw new OrbError("not_found", `no step was ever known to the engine as ${engineId}`);
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
