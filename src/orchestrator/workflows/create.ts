import type { JsonValue } from "../../domain/queue-item.ts";
import type { WorkflowSnapshot } from "../../domain/workflow/definition.ts";
import type { Once } from "../../store/job-records.ts";
import type { RunRecord } from "../../store/run-records.ts";
import type { JobDeps } from "../jobs/deps.ts";
import { invalid } from "../invalid.ts";
import type { SourceInput } from "../jobs/input.ts";
import { type AboutRun, aboutOf, newWorkflowRun, refuseLargeMetadata } from "./new-run.ts";
import { requireSealed } from "./definition.ts";
import { type PathOf, pathsBelow, requireSource } from "./source.ts";
import { toNewWorkflowView, type WorkflowDetail } from "./view.ts";

export interface WorkflowInput extends SourceInput {
  /** The job that the run belongs to, of any kind. */
  job_id?: string | null;
  /** What this run is called; otherwise as its definition says. */
  name?: string;
  /** False: it waits until it is started. */
  start?: boolean;
  metadata?: Readonly<Record<string, JsonValue>>;
}

/** Creates a run of a workflow, and starts it unless that is to wait. It is on disk when this answers. */
export async function createWorkflow(
  deps: JobDeps,
  input: WorkflowInput,
  once?: Once,
  pathOf = pathsBelow(""),
): Promise<WorkflowDetail> {
  refuseLargeMetadata(input.metadata);
  const about = aboutOf(input);
  // A repeated call is answered as the first one was, although its template may have changed by now.
  const before = once === undefined ? null : await deps.store.answered(once, deps.clock.now());
  if (before !== null) return toNewWorkflowView(before as RunRecord, null);
  const { definition, ...source } = await requireSource(deps, input, pathOf);
  const snapshot = { ...source, definition: { ...definition, name: input.name ?? definition.name } };
  await requireItsJob(deps, about.jobId);
  return startWorkflowRun(deps, await sealedUnlessTemplate(deps, snapshot, pathOf), about, once);
}

/** Templates are stored with their secrets sealed. */
async function sealedUnlessTemplate(
  deps: JobDeps,
  snapshot: WorkflowSnapshot,
  pathOf: PathOf,
): Promise<WorkflowSnapshot> {
  if (snapshot.template !== null) return snapshot;
  const definition = await requireSealed(deps, snapshot.definition, null, (inner) => pathOf("definition", inner));
  return { ...snapshot, definition };
}

async function requireItsJob({ store }: JobDeps, jobId: string | null): Promise<void> {
  if (jobId === null || (await store.job(jobId)) !== null) return;
  throw invalid([{ path: "job_id", message: "there is no job with this id" }]);
}

export async function startWorkflowRun(
  { store, clock, wake }: Pick<JobDeps, "store" | "clock" | "wake">,
  snapshot: WorkflowSnapshot,
  about: AboutRun,
  once?: Once,
): Promise<WorkflowDetail> {
  const { made, lanes } = await store.startRun(newWorkflowRun(snapshot, about), [], clock.now(), once);
  if (lanes.length > 0) await wake(lanes);
  return toNewWorkflowView(made, about.rerunOf);
}
