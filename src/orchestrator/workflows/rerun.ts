import { isDeepStrictEqual } from "node:util";
import type { FieldError } from "../../base/errors.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { withoutSecrets } from "../../domain/text/sealed-text.ts";
import type { WorkflowSnapshot } from "../../domain/workflow/definition.ts";
import type { IdempotencyKey } from "../../store/records/job-records.ts";
import type { RunRecord } from "../../store/records/run-records.ts";
import { invalid } from "../invalid.ts";
import type { JobDeps } from "../jobs/deps.ts";
import { requireSnapshot, requireWorkflow } from "./control.ts";
import { startWorkflowRun } from "./create.ts";
import { refuseSessions } from "./key-limits.ts";
import { aboutOf, refuseLargeMetadata } from "./new-run.ts";
import { filledParams } from "./params.ts";
import { readDefinition, requireSealed } from "./definition.ts";
import { refuseMovedSecrets } from "./moved-secrets.ts";
import { pathsBelow, sealedParams } from "./source.ts";
import { toNewWorkflowView, type WorkflowDetail } from "./view.ts";

export interface RerunInput {
  /** Override params of the same name; the others stay. */
  params?: Readonly<Record<string, JsonValue>>;
  /** Replaces the definition of the run. */
  definition?: unknown;
  start?: boolean;
  metadata?: Readonly<Record<string, JsonValue>>;
}

/** Starts a new run from an existing one, with other params or another definition. */
export async function rerunWorkflow(
  deps: JobDeps,
  id: string,
  input: RerunInput,
  once?: IdempotencyKey,
): Promise<WorkflowDetail> {
  refuseLargeMetadata(input.metadata);
  // A repeated call gets the first response, even if the source has changed or is gone.
  const before = once === undefined ? null : await deps.store.answered(once, deps.clock.now());
  if (before !== null) return toNewWorkflowView(before as RunRecord, id);
  const { run, metadata } = await requireWorkflow(deps, id);
  const source = await requireSnapshot(deps, id);
  const snapshot = await changedSnapshot(deps, source, input);
  if (changes(source, input)) refuseSessions(snapshot.definition, pathsBelow(""));
  // The job may be deleted while its runs remain.
  const job = run.jobId === null ? null : await deps.store.job(run.jobId);
  const about = { ...aboutOf({ metadata, ...input, job_id: job?.id ?? null }), rerunOf: id };
  // Runs take the name of their job; another definition has its own.
  const isSame = (input.definition ?? null) === null;
  const named = isSame && run.name !== null ? { ...about, name: run.name } : about;
  return startWorkflowRun(deps, snapshot, named, once);
}

function changes({ params }: WorkflowSnapshot, input: RerunInput): boolean {
  const merged = { ...params, ...input.params };
  return (input.definition ?? null) !== null || !isDeepStrictEqual(withoutSecrets(merged), withoutSecrets(params));
}

async function changedSnapshot(deps: JobDeps, before: WorkflowSnapshot, input: RerunInput): Promise<WorkflowSnapshot> {
  const problems: FieldError[] = [];
  const pathOf = pathsBelow("");
  const isOther = input.definition !== undefined && input.definition !== null;
  const definition = isOther
    ? await readDefinition(deps, input.definition, (path) => pathOf("definition", path), problems)
    : before.definition;
  if (definition === null) throw invalid(problems);
  const merged = { ...before.params, ...input.params };
  refuseMovedSecrets(before, { definition, params: merged }, pathOf);
  const params = filledParams(deps.seal, definition.params, merged, before.params, (path, message) =>
    problems.push({ path: pathOf("params", path), message }),
  );
  if (params === null) throw invalid(problems);
  if (!isOther) return sealedParams(deps, { definition, params, template: before.template }, before.params);
  const sealed = await requireSealed(deps, definition, before.definition, (path) => pathOf("definition", path));
  return sealedParams(deps, { definition: sealed, params, template: null }, before.params);
}
