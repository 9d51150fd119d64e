import { Turns } from "../../base/process/event-loop.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import type { WorkflowSnapshot } from "../../domain/workflow/definition.ts";
import type { IdempotencyKey } from "../../store/records/job-records.ts";
import type { RunRecord } from "../../store/records/run-records.ts";
import type { JobDeps } from "../jobs/deps.ts";
import { invalid } from "../invalid.ts";
import type { SourceInput } from "../jobs/input.ts";
import { refuseSessions, refuseTemplates } from "./key-limits.ts";
import { type AboutRun, aboutOf, newWorkflowRun, refuseLargeMetadata } from "./new-run.ts";
import { requireSealed } from "./definition.ts";
import { type PathOf, pathsBelow, requireSource, sealedParams } from "./source.ts";
import { toNewWorkflowView, type WorkflowDetail } from "./view.ts";

export interface WorkflowInput extends SourceInput {
  /** The job the run belongs to, of any kind. */
  job_id?: string | null;
  /** Name of this run; default: the definition's. */
  name?: string;
  /** False: it waits until it is started. */
  start?: boolean;
  metadata?: Readonly<Record<string, JsonValue>>;
}

/** Creates a workflow run and starts it unless `start` is false. Committed when this returns. */
export async function createWorkflow(
  deps: JobDeps,
  input: WorkflowInput,
  once?: IdempotencyKey,
  pathOf = pathsBelow(""),
): Promise<WorkflowDetail> {
  refuseLargeMetadata(input.metadata);
  const about = aboutOf(input);
  // A repeated call gets the first response, even if its template has changed by now.
  const before = once === undefined ? null : await deps.store.answered(once, deps.clock.now());
  if (before !== null) return toNewWorkflowView(before as RunRecord, null);
  // Params may be lists of 100,000 entries: yield to other work in between.
  const turns = new Turns();
  await refuseTemplates(deps, input, null, pathOf);
  const { definition, ...source } = await requireSource(deps, input, pathOf);
  refuseSessions(definition, pathOf);
  await turns.after();
  const snapshot = { ...source, definition: { ...definition, name: input.name ?? definition.name } };
  await requireItsJob(deps, about.jobId);
  const sealed = sealedParams(deps, await sealedUnlessTemplate(deps, snapshot, pathOf));
  await turns.after();
  return startWorkflowRun(deps, sealed, about, once);
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
  once?: IdempotencyKey,
): Promise<WorkflowDetail> {
  const turns = new Turns();
  const run = newWorkflowRun(snapshot, about);
  await turns.after();
  const { created, lanes } = await store.startRun(run, [], clock.now(), once);
  await turns.after();
  if (lanes.length > 0) await wake(lanes);
  await turns.after();
  return toNewWorkflowView(created, about.rerunOf);
}
