/** Schemas of runs and their parts. */
import type { TOptional } from "typebox";
import { EVENT_TYPES } from "../../../domain/run/event-catalogue.ts";
import { SKIP_REASONS, SKIP_WORDS, type SkipReason } from "../../../domain/crawl/crawl-skips.ts";
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
      url: nullable(
        Type.String({ description: "the page that is tried again; null: it is about the site, or a step" }),
      ),
      attempt: nullable(Type.Integer({ minimum: 1, description: "the attempt that comes next" })),
      max_attempts: nullable(Type.Integer({ minimum: 1 })),
      next_try_at: nullable(Time),
    },
    { description: "what went wrong last, where that is why it waits; null: nothing did" },
  ),
);

/** The parts of `waiting_for`, the same for runs, workflows, steps and sites. */
export const waitingParts = {
  until: nullable({ ...Time, description: "null: not a matter of time" }),
  message: Type.String({ description: "a sentence for people" }),
  last_failure: LastFailure,
};

export const RunWaits = nullable(
  strict(
    { reason: oneOf(WAIT_REASONS), ...waitingParts },
    { description: "what keeps it from its work; null: nothing" },
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

/** Retention. */
export const keptParts = {
  expires_at: nullable({
    ...Time,
    description:
      "it is removed then, with its results and files; the last completed run of a job stays until there is a newer one. null: it has not ended, or no time is set",
  }),
  kept: Type.Boolean({ description: "somebody asked to keep it: no policy removes it" }),
  keep_runs: nullable({
    ...Count,
    description: "it is removed when its job has so many newer runs that have ended; null: no such limit",
  }),
};

/** One key per reason that occurred. */
const skips = Object.fromEntries(
  SKIP_REASONS.map((reason) => [reason, Type.Optional({ ...Count, description: SKIP_WORDS[reason] })]),
);

export const Skipped = strict(skips as unknown as Record<SkipReason, TOptional<typeof Count>>, {
  description:
    "addresses that a crawl found and did not fetch, by reason, each counted once by each worker; depth and page_limit are lower bounds",
});

export const Warnings = Type.Array(
  strict({
    code: oneOf(["pagination_cut", "sign_in"]),
    message: Type.String({ description: "what happened, an example, and what to do" }),
    option: Type.Optional(
      oneOf(["include", "follow", "exclude"], { description: "pagination_cut: whose patterns left the link" }),
    ),
    patterns: Type.Optional(Type.Array(Type.String())),
    url: Type.Optional(Type.String({ description: "the link that was left" })),
    found_on: Type.Optional(Type.String()),
    follow: Type.Optional(
      nullable(Type.String({ description: "a pattern for follow that lets it in; null: exclude wins over it" })),
    ),
  }),
  { description: "what is probably not meant so" },
);

export const Starts = Type.Array(Type.String(), {
  description: "where a crawl begins, the first 100 of url_count; the recipe of the run has all of them",
});

export const Run = strict({
  id: Uuid,
  job_id: nullable(Uuid),
  parent: nullable(strict({ run_id: Uuid, task_id: Uuid }, { description: "the step of a workflow that started it" })),
  kind: oneOf(RUN_KINDS),
  name: text,
  url: text,
  urls: Starts,
  url_count: { ...Count, description: "of a crawl: how many starts it has; of others 0 or 1" },
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
  progress: Type.Integer({
    minimum: 0,
    maximum: 100,
    description: "percent; 100 at the end, and what was reached when it was cancelled",
  }),
  changes: Changes,
  skipped: nullable(Skipped),
  warnings: Warnings,
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
  message: Type.String({ description: "a sentence for people; it may change: match `type` instead" }),
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
  run_id: { ...Uuid, description: "of a crawl: its crawl_id" },
  task_id: { ...Uuid, description: "the task that gave the record: of a crawl, the page's, not the crawl" },
  url: Type.String(),
  data: Type.Record(Type.String(), Type.Unknown()),
  created_at: Time,
});
