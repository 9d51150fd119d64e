/** The shapes of runs and of what belongs to them. */
import { FAILURE_CODES, FAILURE_REASONS, type FailureReason } from "../../domain/failure.ts";
import { ARTIFACT_ROLES } from "../../domain/outcome.ts";
import { WAIT_REASONS } from "../../domain/waiting.ts";
import { RUN_KINDS, RUN_STATES, TASK_STATES } from "../../domain/states.ts";
import { Count, nullable, oneOf, strict, Time, Uuid } from "../schemas.ts";
import { Type } from "../type.ts";

const FailureCode = nullable(oneOf(FAILURE_CODES));
const FailureReason = nullable(oneOf(Object.keys(FAILURE_REASONS) as FailureReason[]));
const text = nullable(Type.String());

export const RunWaits = nullable(
  strict(
    { reason: oneOf(WAIT_REASONS), until: nullable(Time), message: Type.String() },
    { description: "what keeps the run from its work though nobody has paused it; null: nothing" },
  ),
);

export const Changes = nullable(
  strict(
    {
      compared_with: nullable(Uuid),
      new: Count,
      changed: Count,
      unchanged: Count,
      gone: { ...Count, description: "answered so, or not found any more by a crawl that ran to its end" },
      unknown: nullable({ ...Count, description: "known before, and not seen by this run; null before its end" }),
    },
    { description: "of a saved crawl that has run before: how its pages compare with what the job knew of them" },
  ),
);

export const Run = strict({
  id: Uuid,
  job_id: nullable(Uuid),
  parent: nullable(strict({ run_id: Uuid, task_id: Uuid }, { description: "the step of a workflow that started it" })),
  kind: oneOf(RUN_KINDS),
  name: text,
  url: text,
  site: text,
  status: oneOf(RUN_STATES),
  generation: Type.Integer({ minimum: 1, description: "grows each time an ended run is opened again" }),
  attempt: Type.Integer({ minimum: 1 }),
  max_attempts: nullable(Type.Integer({ minimum: 1 })),
  requested_strategy: text,
  resolved_strategy: nullable(Type.String({ description: "null until the worker has decided" })),
  strategy_evidence: nullable(Type.Record(Type.String(), Type.Unknown())),
  failure_code: FailureCode,
  failure_reason: FailureReason,
  error_message: text,
  message: nullable(Type.String({ description: "what the last change of state said" })),
  waiting_for: RunWaits,
  stats: Type.Record(Type.String(), Type.Unknown(), {
    description: "http_status, content_type, content_length, title, final_url, duration_ms, strategy, browser",
  }),
  progress: Type.Integer({ minimum: 0, maximum: 100 }),
  changes: Changes,
  created_at: Time,
  started_at: nullable(Time),
  finished_at: nullable(Time),
});

export const Event = strict({
  id: Uuid,
  run_id: Uuid,
  level: oneOf(["info", "warn", "error"]),
  message: Type.String(),
  meta: Type.Record(Type.String(), Type.Unknown()),
  created_at: Time,
});

export const Artifact = strict({
  id: Uuid,
  role: oneOf(ARTIFACT_ROLES),
  hash: Type.String(),
  size: Count,
  content_type: text,
  url: Type.String(),
  created_at: Time,
});

export const AttemptSchema = strict({
  attempt: Type.Integer({ minimum: 1 }),
  strategy: Type.String(),
  proxy: text,
  started_at: Time,
  duration_ms: Count,
  http_status: nullable(Type.Integer()),
  failure_code: FailureCode,
  failure_reason: FailureReason,
});

export const Task = strict({
  id: Uuid,
  run_id: Uuid,
  url: text,
  site: text,
  status: oneOf(TASK_STATES),
  priority: Type.Integer(),
  handler: nullable(Type.String({ description: "@page, @crawl, @sitemap, or a name of yours; null: a download" })),
  failure_code: FailureCode,
  failure_reason: FailureReason,
  error_message: text,
  next_try_at: nullable(Time),
  depth: nullable({ ...Count, description: "link hops from the start of a crawl" }),
  strategy: nullable(Type.String({ description: "of the last attempt, as the next two are" })),
  http_status: nullable(Type.Integer()),
  duration_ms: nullable(Count),
  size: nullable({ ...Count, description: "bytes of what was got; null: nothing was, or nobody counted" }),
  attempts: Type.Array(AttemptSchema, { description: "newest last" }),
  detail: Type.Unknown(),
  artifacts: Type.Array(Artifact),
  created_at: Time,
  finished_at: nullable(Time),
});

export const Result = strict({
  id: Uuid,
  run_id: Uuid,
  task_id: Uuid,
  url: Type.String(),
  data: Type.Record(Type.String(), Type.Unknown()),
  created_at: Time,
});
