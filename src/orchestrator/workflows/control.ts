import { OrbError } from "../../base/errors.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { suggest } from "../../domain/text/suggest.ts";
import type { CreatedSnapshot } from "../../domain/workflow/definition.ts";
import type { WorkflowRecord } from "../../store/ports/workflow-port.ts";
import type { AdmissionDeps } from "../crawls/turns.ts";
import type { OrchestratorDeps } from "../deps.ts";
import { invalid } from "../invalid.ts";
import { cancelRun, cancelUnlessEnded, pauseRun, resumeRun } from "../runs/control.ts";
import { type RunWaitDeps, waitingOfRun } from "../runs/waiting.ts";
import { noWorkersReason } from "../workers/worker-availability.ts";
import { refuseLargeMetadata } from "./new-run.ts";
import { refuseUnlessFit } from "./refusals.ts";
import { toWorkflowView, type WorkflowView } from "./view.ts";

export async function requireWorkflow({ store }: Pick<OrchestratorDeps, "store">, id: string): Promise<WorkflowRecord> {
  const workflow = await store.workflow(id);
  if (workflow === null) throw new OrbError("not_found", `there is no workflow with the id ${id}`);
  return workflow;
}

export async function requireSnapshot(
  { store }: Pick<OrchestratorDeps, "store">,
  id: string,
): Promise<CreatedSnapshot> {
  const snapshot = await store.workflowSnapshot(id);
  if (snapshot === null) throw new OrbError("not_found", `there is no workflow with the id ${id}`);
  return snapshot as CreatedSnapshot;
}

async function viewNow(deps: RunWaitDeps, id: string): Promise<WorkflowView> {
  return viewOf(deps, await requireWorkflow(deps, id));
}

async function viewOf(deps: RunWaitDeps, record: WorkflowRecord): Promise<WorkflowView> {
  return toWorkflowView(record, await waitingOfRun(deps, record.run, await noWorkersReason(deps)));
}

/** Starts a workflow created with `start: false`. Idempotent. */
export async function startWorkflow(deps: RunWaitDeps, id: string): Promise<WorkflowView> {
  const { run } = await requireWorkflow(deps, id);
  refuseUnlessFit("start", run.status);
  const { lanes } = await deps.store.startWorkflow(id, deps.clock.now());
  if (lanes.length > 0) await deps.wake(lanes);
  return viewNow(deps, id);
}

/** Running steps finish; no new one starts. */
export async function pauseWorkflow(deps: RunWaitDeps, id: string): Promise<WorkflowView> {
  await requireWorkflow(deps, id);
  await pauseRun(deps, id);
  return viewNow(deps, id);
}

export async function resumeWorkflow(deps: AdmissionDeps & RunWaitDeps, id: string): Promise<WorkflowView> {
  await requireWorkflow(deps, id);
  await resumeRun(deps, id);
  return viewNow(deps, id);
}

/** Stops running steps and cancels child runs; completed results stay readable. */
export async function cancelWorkflow(deps: RunWaitDeps, id: string): Promise<WorkflowView> {
  await requireWorkflow(deps, id);
  await cancelRun(deps, id);
  return viewNow(deps, id);
}

/**
 * Repeats incomplete steps, or one step and all its dependents. Completed steps keep their results. The request is
 * committed when this returns; a worker executes it.
 */
export async function recoverWorkflow(
  deps: RunWaitDeps,
  id: string,
  input: { from_step?: string | number | null },
): Promise<WorkflowView> {
  await beginRecovery(deps, id, input.from_step ?? null);
  return viewNow(deps, id);
}

/** The same for a caller that needs no result. */
export async function beginRecovery(
  deps: OrchestratorDeps,
  id: string,
  from: string | number | null = null,
): Promise<void> {
  const { run } = await requireWorkflow(deps, id);
  refuseUnlessFit("recover", run.status);
  const index = from === null ? null : indexOf((await requireSnapshot(deps, id)).definition, from);
  await deps.store.recoverWorkflow(id, index, deps.clock.now());
  await deps.wake(null);
}

function indexOf({ steps }: CreatedSnapshot["definition"], step: string | number): number {
  const index = typeof step === "number" ? step : steps.findIndex(({ name }) => name === step);
  if (steps[index] !== undefined) return index;
  const near =
    typeof step === "number"
      ? undefined
      : suggest(
          step,
          steps.map(({ name }) => name),
        );
  const message =
    typeof step === "number"
      ? `there is no step ${step}: the last one is ${steps.length - 1}`
      : `there is no step of this name${near === undefined ? "" : `, did you mean "${near}"?`}`;
  throw invalid([{ path: "from_step", message }]);
}

/** Null removes a key; missing keys stay. */
export async function changeMetadata(
  deps: RunWaitDeps,
  id: string,
  change: Readonly<Record<string, JsonValue>>,
): Promise<WorkflowView> {
  const { metadata } = await requireWorkflow(deps, id);
  refuseLargeMetadata({ ...metadata, ...change });
  return viewOf(deps, await deps.store.changeMetadata(id, change, deps.clock.now()));
}

/**
 * Rejected while it has not ended, unless it is cancelled first. The workflow and its child runs are hidden when this
 * returns; rows and files are deleted afterwards.
 */
export async function deleteWorkflow(deps: OrchestratorDeps, id: string, options: { force: boolean }): Promise<void> {
  const { run } = await requireWorkflow(deps, id);
  if (options.force) await cancelUnlessEnded(deps, id);
  else refuseUnlessFit("delete", run.status);
  await deps.store.deleteWorkflow(id, deps.clock.now());
  await deps.wake(null);
}
