/** Schemas of workflows and their parts. */

import { FAILURE_CODES, FAILURE_REASONS, type FailureReason } from "../../../domain/run/failure.ts";
import { RUN_KINDS, RUN_STATES, TASK_STATES } from "../../../domain/run/states.ts";
import type { WorkflowDefinition } from "../../../domain/workflow/definition.ts";
import { WORKFLOW_STATUSES } from "../../../orchestrator/workflows/view.ts";
import { Count, nullable, oneOf, strict, Time, Uuid } from "../../schemas.ts";
import { Type } from "../../type.ts";
import { Artifact, AttemptSchema, keptParts, LastFailure, RunWaits } from "../runs/run-schemas.ts";

const text = nullable(Type.String());
const time = nullable(Time);
const seconds = nullable(Type.Number({ minimum: 0, description: "seconds" }));
const Percent = Type.Integer({ minimum: 0, maximum: 100 });
const Json = Type.Record(Type.String(), Type.Unknown());

/** Any object; it is validated when it is parsed, with the path of every error. */
const Definition = Type.Record(Type.String(), Type.Unknown(), {
  description: "name, steps, params, max_recovery_attempts: docs/workflows.md describes it",
});
const TemplateName = Type.String({ minLength: 1, maxLength: 100, description: "the name of a template" });

export const sourceParts = {
  definition: Type.Optional(nullable(Definition)),
  template: Type.Optional(nullable(TemplateName)),
  template_version: Type.Optional(nullable(Type.Integer({ minimum: 1, description: "default: the newest" }))),
  params: Type.Optional(nullable(Json)),
};

/** A definition may be the whole body, as in a file: recognised by its `steps`. */
const BareDefinition = Type.Object(
  { steps: Type.Unknown({ description: "of a definition that is the whole body" }) },
  { additionalProperties: true, description: "a definition by itself" },
);

export const WorkflowBody = Type.Union([
  strict({
    ...sourceParts,
    job_id: Type.Optional(nullable(Uuid)),
    name: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: "of this run; default: as in the definition" }),
    ),
    start: Type.Optional(Type.Boolean({ description: "false: create it without starting it" })),
    metadata: Type.Optional(Json),
  }),
  BareDefinition,
]);

export const ValidateBody = Type.Union([strict(sourceParts), BareDefinition]);
export const TemplateBody = Type.Union([
  strict({
    definition: Definition,
    version: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: "the newest version that you read; rejected with 409 if there is a newer one",
      }),
    ),
  }),
  BareDefinition,
]);

export const RerunBody = Type.Union([
  strict({
    params: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({ ...Json, description: "override params of the same name" }),
    ),
    definition: Type.Optional(nullable(Definition)),
    start: Type.Optional(Type.Boolean()),
    metadata: Type.Optional(Json),
  }),
  Type.Null({ description: "no body: the same params and definition" }),
]);

export const RecoverBody = Type.Union([
  strict({
    from_step: Type.Optional(
      nullable(
        Type.Union([Type.String({ minLength: 1, maxLength: 200 }), Type.Integer({ minimum: 0 })], {
          description:
            "name or index of a step: repeat it and the steps that depend on it. Default: all that did not complete",
        }),
      ),
    ),
  }),
  Type.Null({ description: "no body: all that did not complete" }),
]);

export const Validation = strict({
  valid: Type.Boolean(),
  errors: Type.Array(strict({ path: Type.String(), message: Type.String() })),
  source: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: "the YAML body converted to JSON, for calls that accept only JSON (POST /jobs)",
    }),
  ),
});

const TemplateRef = nullable(strict({ name: Type.String(), version: Type.Integer({ minimum: 1 }) }));

const workflowParts = {
  id: Uuid,
  job_id: nullable(Uuid),
  name: Type.String(),
  status: oneOf(WORKFLOW_STATUSES),
  current_step: {
    ...Count,
    description: "index of the first step that has not ended; for a failed workflow, of the step to recover from",
  },
  ended_steps: { ...Count, description: "steps that have completed, failed or were skipped or cancelled" },
  total_steps: Count,
  progress: { ...Percent, description: "weighted by the steps' estimates; 100 when it has completed" },
  metadata: Json,
  error_message: text,
  recovery_attempts: Count,
  max_recovery_attempts: Count,
  template: TemplateRef,
  rerun_of: nullable(Uuid),
  message: text,
  waiting_for: RunWaits,
  created_at: Time,
  started_at: time,
  completed_at: time,
  last_checkpoint: time,
  updated_at: Time,
};

export const Workflow = strict(workflowParts);
export const WorkflowDetail = strict({
  ...workflowParts,
  definition: Type.Unsafe<WorkflowDefinition>(
    Type.Record(Type.String(), Type.Unknown(), { description: "with all defaults filled in" }),
  ),
  params: Json,
  expires_at: keptParts.expires_at,
});

export const WaitingFor = nullable(
  strict(
    {
      for: oneOf(["time", "run", "entries", "retry", "worker"]),
      until: Type.Optional(nullable(Time)),
      run_id: Type.Optional(Uuid),
      run: Type.Optional(
        nullable(
          strict(
            { kind: oneOf(RUN_KINDS), status: oneOf(RUN_STATES), done: Count, failed: Count, total: Count },
            { description: "progress of the run that the step started" },
          ),
        ),
      ),
      open: Type.Optional(Count),
      message: Type.String({ description: "a sentence for humans: what it waits for, and why that takes time" }),
      last_failure: LastFailure,
    },
    { description: "what a step waits for that is running, retrying, or not accepted by any worker" },
  ),
);

const Entries = nullable(
  strict(
    { total: Count, open: Count, completed: Count, failed: Count, skipped: Count },
    { description: "for a step with for_each" },
  ),
);

const failureParts = {
  error_message: text,
  failure_code: nullable(oneOf(FAILURE_CODES)),
  failure_reason: nullable(oneOf(Object.keys(FAILURE_REASONS) as FailureReason[])),
};

const stepParts = {
  id: Uuid,
  task_name: Type.String(),
  task_type: Type.String(),
  status: oneOf(TASK_STATES),
  step_index: Count,
  dependencies: Type.Array(Count),
  retry_count: Count,
  max_retries: Count,
  progress: Percent,
  progress_message: text,
  waiting_for: WaitingFor,
  child_run_ids: Type.Array(Uuid),
  entries: Entries,
  ...failureParts,
  started_at: time,
  completed_at: time,
  next_try_at: time,
  estimated_duration: seconds,
  actual_duration: seconds,
};

export const WorkflowTask = strict({
  ...stepParts,
  workflow_id: Uuid,
  engine_task_id: text,
  dependency_names: Type.Array(Type.String()),
  result: nullable(Json),
  items_count: nullable(Count),
  attempts: Type.Array(AttemptSchema, { description: "newest last" }),
  artifacts: Type.Array(Artifact),
  created_at: Time,
  updated_at: Time,
});

export const Entry = strict({
  id: Uuid,
  index: Count,
  item: Type.Unknown(),
  status: oneOf(TASK_STATES),
  retry_count: Count,
  result: nullable(Json),
  ...failureParts,
  attempts: Type.Array(AttemptSchema),
  created_at: Time,
  completed_at: time,
});

const { job_id, name, status, progress, current_step, total_steps } = workflowParts;
export const Progress = strict({
  workflow_id: Uuid,
  job_id,
  name,
  status,
  progress,
  current_step,
  current_step_name: text,
  total_steps,
  counts: strict(Object.fromEntries(TASK_STATES.map((state) => [state, Count])) as Record<string, typeof Count>),
  elapsed_seconds: seconds,
  time_remaining_seconds: seconds,
  error_message: text,
  recovery_attempts: Count,
  max_recovery_attempts: Count,
  started_at: time,
  completed_at: time,
  last_checkpoint: time,
  message: text,
  waiting_for: RunWaits,
  steps: Type.Array(strict(stepParts)),
});

export const Template = strict({
  name: Type.String(),
  version: Type.Integer({ minimum: 1 }),
  built_in: Type.Boolean(),
  description: text,
  params: Type.Unknown({ description: "JSON Schema of the params; null: it needs none" }),
  definition: Type.Unknown(),
  created_at: time,
});

export const StepKindSchema = strict({
  kind: Type.String(),
  about: Type.String(),
  params: Type.Unknown({ description: "a JSON Schema (2020-12)" }),
});
