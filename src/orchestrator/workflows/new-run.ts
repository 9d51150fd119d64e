import { createHash } from "node:crypto";
import { canonicalJson } from "../../base/canonical-json.ts";
import { OrbError } from "../../base/errors.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import type { CreatedSnapshot, WorkflowSnapshot } from "../../domain/workflow/definition.ts";
import { withoutSecrets } from "../../domain/text/sealed-text.ts";
import type { NewRun } from "../../store/records/run-records.ts";
import type { NewWorkflow } from "../../store/records/workflow-records.ts";
import { callersTrace } from "../runs/callers-trace.ts";

/** Properties of a workflow run besides its definition. */
export interface AboutRun extends Pick<NewWorkflow, "metadata" | "start" | "rerunOf"> {
  jobId: string | null;
  /** Default: the definition's. */
  name?: string;
}

export function aboutOf(input: {
  job_id?: string | null;
  start?: boolean;
  metadata?: Readonly<Record<string, JsonValue>>;
}): AboutRun {
  return {
    jobId: input.job_id ?? null,
    start: input.start ?? true,
    metadata: withoutNulls(input.metadata ?? {}),
    rerunOf: null,
  };
}

/** As when metadata is changed, null means absent. */
function withoutNulls(metadata: Readonly<Record<string, JsonValue>>): Record<string, JsonValue> {
  return Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== null));
}

/** The run of a workflow; its steps become tasks in the same transaction. */
export function newWorkflowRun(snapshot: WorkflowSnapshot, about: AboutRun): NewRun {
  const { definition, template } = snapshot;
  const created: CreatedSnapshot = { ...snapshot, metadata: about.metadata };
  return {
    kind: "workflow",
    name: about.name ?? definition.name,
    maxAttempts: null,
    snapshot: created,
    meta: { workflow: definition.name, steps: definition.steps.length, ...(template === null ? {} : { template }) },
    ...(about.jobId === null ? {} : { jobId: about.jobId }),
    ...callersTrace(),
    workflow: {
      steps: definition.steps.map((step) => ({
        name: step.name,
        kind: step.task_type,
        dependencies: step.dependencies,
        maxRetries: step.max_retries,
        estimatedMs: step.estimated_duration === null ? null : Math.round(step.estimated_duration * 1000),
      })),
      start: about.start,
      metadata: about.metadata,
      maxRecoveryAttempts: definition.max_recovery_attempts,
      template,
      rerunOf: about.rerunOf,
      similarityKey: similarityKeyOf(snapshot),
    },
  };
}

/** Versions of a template are equivalent; sealed values differ each time, even with the same content. */
function similarityKeyOf({ definition, params, template }: WorkflowSnapshot): string {
  const shown = withoutSecrets(params);
  const what =
    template === null
      ? { definition: withoutSecrets(definition), params: shown }
      : { template: template.name, params: shown };
  return createHash("sha256").update(canonicalJson(what)).digest("base64url");
}

/** Rejected before anything is stored: every list reads metadata. */
const MOST_METADATA_BYTES = 64 * 1024;

export function refuseLargeMetadata(metadata: unknown): void {
  if (Buffer.byteLength(JSON.stringify(metadata ?? {})) <= MOST_METADATA_BYTES) return;
  const message = "is larger than 64 KiB: store larger data elsewhere and keep a reference";
  throw new OrbError("input_invalid", `metadata: ${message}`, { fields: [{ path: "metadata", message }] });
}
