/** Schemas of runs and their parts. */
import { ActorSchema } from "../access/keys.ts";
import type { TOptional } from "typebox";
import { EVENT_TYPES } from "../../../domain/run/event-catalogue.ts";
import { SKIP_REASONS, SKIP_WORDS, type SkipReason } from "../../../domain/crawl/crawl-skips.ts";
import { HEALTH_METRICS } from "../../../domain/health/compare.ts";
import { VALUE_CLASSES } from "../../../domain/health/value-class.ts";
import { FAILURE_CODES, FAILURE_REASONS, type FailureReason } from "../../../domain/run/failure.ts";
import { ARTIFACT_ROLES } from "../../../domain/run/outcome.ts";
import { WAIT_REASONS } from "../../../domain/run/waiting.ts";
import { RUN_KINDS, RUN_STATES, TASK_STATES } from "../../../domain/run/states.ts";
import { Count, nullable, oneOf, strict, Time, Uuid } from "../../schemas.ts";
import { Type } from "../../type.ts";

const FailureCode = nullable(oneOf(FAILURE_CODES));
const FailureReason = nullable(oneOf(Object.keys(FAILURE_REASONS) as FailureReason[]));
const text = nullable(Type.String());

export const LastFailure = nullable(
  strict(
    {
      failure_code: oneOf(FAILURE_CODES),
      failure_reason: oneOf(Object.keys(FAILURE_REASONS) as FailureReason[]),
      message: Type.String(),
      http_status: nullable(Type.Integer()),
      url: nullable(Type.String({ description: "the page to retry; null: the failure is that of a site or a step" })),
      attempt: nullable(Type.Integer({ minimum: 1, description: "number of the next attempt" })),
      max_attempts: nullable(Type.Integer({ minimum: 1 })),
      next_try_at: nullable(Time),
    },
    { description: "the last failure, if it is the reason for waiting; null: it is not" },
  ),
);

/** The parts of `waiting_for`, the same for runs, workflows, steps and sites. */
export const waitingParts = {
  until: nullable({ ...Time, description: "null: no fixed time" }),
  message: Type.String({ description: "a sentence for humans" }),
  last_failure: LastFailure,
};

export const RunWaits = nullable(
  strict({ reason: oneOf(WAIT_REASONS), ...waitingParts }, { description: "why it waits; null: it does not wait" }),
);

export const Changes = nullable(
  strict(
    {
      compared_with: nullable(Uuid),
      new: Count,
      changed: Count,
      unchanged: Count,
      gone: { ...Count, description: "answered 404 or 410, or no longer linked in a complete crawl" },
      unknown: nullable({ ...Count, description: "known pages without a verdict in this run; null before its end" }),
    },
    { description: "for a saved crawl that has run before: its pages compared with the previous run" },
  ),
);

/** Retention. */
export const keptParts = {
  expires_at: nullable({
    ...Time,
    description:
      "when it will be deleted with its results and files; the last completed run of a job stays until there is a newer one. null: it has not ended, or no time is set",
  }),
  kept: Type.Boolean({ description: "marked to be kept: exempt from retention" }),
  keep_runs: nullable({
    ...Count,
    description: "it is deleted when its job has this many newer ended runs; null: no such limit",
  }),
};

/** One key per reason that occurred. */
const skips = Object.fromEntries(
  SKIP_REASONS.map((reason) => [reason, Type.Optional({ ...Count, description: SKIP_WORDS[reason] })]),
);

export const Skipped = strict(skips as unknown as Record<SkipReason, TOptional<typeof Count>>, {
  description:
    "URLs that a crawl found but did not fetch, by reason, each counted once per worker; depth and page_limit are lower bounds",
});

export const Warnings = Type.Array(
  strict({
    code: oneOf(["pagination_cut", "sign_in", "document_incomplete"]),
    message: Type.String({ description: "what happened, an example, and what to do" }),
    option: Type.Optional(
      oneOf(["include", "follow", "exclude"], { description: "pagination_cut: the option that excluded the link" }),
    ),
    patterns: Type.Optional(Type.Array(Type.String())),
    url: Type.Optional(Type.String({ description: "the excluded link" })),
    found_on: Type.Optional(Type.String()),
    follow: Type.Optional(
      nullable(Type.String({ description: "a pattern for follow that includes it; null: exclude takes precedence" })),
    ),
  }),
  { description: "probable mistakes in the settings" },
);

export const Starts = Type.Array(Type.String(), {
  description: "the first 100 start URLs of a crawl (of url_count); GET /jobs/runs/{run_id}/recipe has all of them",
});

export const Degraded = nullable(
  Type.Array(
    strict({
      field: nullable(Type.String({ description: "null: the run as a whole" })),
      metric: oneOf(HEALTH_METRICS, { description: "docs/data-quality.md describes them" }),
      before: Type.Number({ description: "the median of earlier runs" }),
      now: Type.Number(),
      class: Type.Optional(oneOf(VALUE_CLASSES, { description: "of metric class: whose share that is" })),
      also: Type.Optional(
        Type.Array(oneOf(HEALTH_METRICS), { description: "other metrics of the field that changed" }),
      ),
      examples: Type.Optional(Type.Array(Type.String(), { description: "values of this run, cut" })),
      pages: Type.Optional(Type.Array(Type.String(), { description: "URLs of pages of this run that show it" })),
    }),
    {
      description:
        "what is worse about its records than in earlier runs of its job, one reason per field; null: nothing, or not known (yet)",
    },
  ),
);

export const Run = strict({
  id: Uuid,
  job_id: nullable(Uuid),
  parent: nullable(strict({ run_id: Uuid, task_id: Uuid }, { description: "the step of a workflow that started it" })),
  kind: oneOf(RUN_KINDS),
  name: text,
  url: text,
  urls: Starts,
  url_count: { ...Count, description: "number of start URLs of a crawl; 0 or 1 for other kinds" },
  site: text,
  status: oneOf(RUN_STATES),
  generation: Type.Integer({ minimum: 1, description: "increases each time an ended run is reopened" }),
  attempt: Type.Integer({ minimum: 1 }),
  max_attempts: nullable(Type.Integer({ minimum: 1 })),
  requested_strategy: text,
  resolved_strategy: nullable(Type.String({ description: "null until the worker has decided" })),
  strategy_evidence: nullable(Type.Record(Type.String(), Type.Unknown())),
  failure_code: FailureCode,
  failure_reason: FailureReason,
  error_message: text,
  message: nullable(Type.String({ description: "message of the last state change" })),
  waiting_for: RunWaits,
  stats: Type.Record(Type.String(), Type.Unknown(), {
    description: "http_status, content_type, content_length, title, final_url, duration_ms, strategy, browser",
  }),
  progress: Type.Integer({
    minimum: 0,
    maximum: 100,
    description: "percent; 100 at the end; for a cancelled run, the last value",
  }),
  changes: Changes,
  monitor: nullable(
    strict(
      { new: Count, changed: Count, removed: Count },
      { description: "pages that the monitor of its job found changed; null: no monitor, or not compared yet" },
    ),
  ),
  skipped: nullable(Skipped),
  degraded: Degraded,
  warnings: Warnings,
  started_by: nullable(ActorSchema),
  created_at: Time,
  started_at: nullable(Time),
  finished_at: nullable(Time),
  ...keptParts,
});

export const Event = strict({
  id: Uuid,
  run_id: Uuid,
  type: oneOf(EVENT_TYPES, { description: "what happened; docs/events.md lists all types. New ones may be added" }),
  level: oneOf(["info", "warn", "error"]),
  message: Type.String({ description: "a sentence for humans; it may change: match `type` instead" }),
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
  relevance: nullable(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: "how relevant the page is to the goal of its crawl; null: no goal, or the page was not read",
    }),
  ),
  strategy: nullable(Type.String({ description: "of the last attempt, like the next two" })),
  http_status: nullable(Type.Integer()),
  duration_ms: nullable(Count),
  size: nullable({ ...Count, description: "bytes fetched; null: nothing was fetched, or not measured" }),
  attempts: Type.Array(AttemptSchema, { description: "newest last" }),
  detail: Type.Unknown(),
  artifacts: Type.Array(Artifact),
  created_at: Time,
  finished_at: nullable(Time),
});

export const Result = strict({
  id: Uuid,
  run_id: { ...Uuid, description: "for a crawl: its crawl_id" },
  task_id: { ...Uuid, description: "the task that produced the record; in a crawl, the task of the page" },
  url: Type.String(),
  data: Type.Record(Type.String(), Type.Unknown()),
  created_at: Time,
});
