/** Schemas of the live overview. */
import { ERROR_CLASSES } from "../../../domain/crawl/crawl-end.ts";
import { FAILURE_CODES, FAILURE_REASONS, type FailureReason } from "../../../domain/run/failure.ts";
import { TASK_STATES } from "../../../domain/run/states.ts";
import { IDLE_REASONS } from "../../../domain/run/waiting.ts";
import { ACTIVE_STATES } from "../../../orchestrator/live/overview.ts";
import { TROUBLES } from "../../../orchestrator/live/troubled-sites.ts";
import { Count, nullable, oneOf, strict, Time, Uuid } from "../../schemas.ts";
import { Run } from "../runs/run-schemas.ts";
import { WaitingFor as StepWaiting } from "../workflows/workflow-schemas.ts";
import { Type } from "../../type.ts";

const Rate = Type.Number({ minimum: 0 });
const { id, job_id, kind, name, url, url_count, site, status, progress, waiting_for, message } = Run.properties;
const { failure_code, failure_reason, created_at, started_at, finished_at } = Run.properties;

const LiveRun = strict({
  id,
  job_id,
  kind,
  name,
  url,
  url_count,
  site,
  status,
  progress,
  waiting_for,
  message,
  failure_code,
  failure_reason,
  created_at,
  started_at,
  finished_at,
  current_steps: Type.Array(strict({ name: Type.String(), status: oneOf(TASK_STATES), waiting_for: StepWaiting }), {
    description: "for a running workflow: its current steps, at most three",
  }),
  counts: strict({
    queued: Count,
    running: { ...Count, description: "claimed by workers, started or about to start" },
    retrying: Count,
    completed: Count,
    failed: Count,
    skipped: Count,
  }),
  per_second: { ...Rate, description: "throughput over the last ten seconds" },
  eta_seconds: nullable({ ...Rate, description: "remaining time at this throughput, a lower bound; null: unknown" }),
  eta_most_seconds: nullable({
    ...Rate,
    description: "for a crawl: remaining time if it keeps finding pages at the recent rate; null: unknown",
  }),
});

const TroubledSite = strict({
  site: Type.String(),
  trouble: oneOf(TROUBLES, {
    description: "failing: many of the last requests failed; held: rate limited",
  }),
  message: Type.String({ description: "a sentence for humans" }),
  until: nullable({ ...Time, description: "null: no fixed time" }),
  error_rate: nullable(Type.Number({ minimum: 0, maximum: 1 })),
  waiting: { ...Count, description: "number of waiting pages" },
});

const FailureGroup = strict({
  failure_code: oneOf(FAILURE_CODES),
  failure_reason: oneOf(Object.keys(FAILURE_REASONS) as FailureReason[]),
  class: oneOf(ERROR_CLASSES),
  count: Count,
  example: strict({ url: nullable(Type.String()), message: Type.String(), task_id: Uuid, run_id: Uuid }),
});

const steps = {
  step_seconds: Type.Integer({ minimum: 1 }),
  first_at: nullable({ ...Time, description: "start of the first interval; null: no counts yet" }),
};

/** One number per step; null: not sampled. */
const Numbers = Type.Array(nullable(Type.Number()), { description: "one number per interval; null: not counted" });

export const SiteSeries = strict({ ...steps, good: Numbers, bad: Numbers });

export const Overview = strict({
  pages_per_second: strict({ good: Rate, bad: Rate }, { description: "ended pages, over the last ten seconds" }),
  success_rate: nullable(
    Type.Number({ minimum: 0, maximum: 1, description: "of pages that ended in the last five minutes; null: none" }),
  ),
  recent_pages: strict(
    { good: Count, bad: Count },
    {
      description:
        "approximate number of pages that ended in the last five minutes; with few pages, success_rate is not significant",
    },
  ),
  in_flight: { ...Count, description: "tasks in flight, as last reported by the workers" },
  queued: Count,
  retrying: { ...Count, description: "part of queued: failed, with a retry scheduled" },
  oldest_queued_at: nullable({ ...Time, description: "when the longest waiting page was added" }),
  runs: Type.Object(Object.fromEntries(ACTIVE_STATES.map((state) => [state, Count])), {
    additionalProperties: false,
    description: "runs that have not ended, by status, without child runs of workflows",
  }),
  active_runs: Type.Array(LiveRun, {
    description: "up to 20: running ones first, then waiting ones, newest first",
  }),
  sites: strict({ known: Count, active: Count, waiting: Count, paused: Count, blocked: Count }),
  troubled_sites: Type.Array(TroubledSite),
  failures: Type.Array(FailureGroup, {
    description:
      "failures of runs that are active or ended in the last hour, by reason, with an example of the newest run",
  }),
  workers: strict({
    working: Count,
    standby: { ...Count, description: "take over when the active worker is gone; not included in `working`" },
    draining: Count,
    drained: Count,
    lost: Count,
    in_flight: Count,
    capacity: { ...Count, description: "maximum tasks in flight of all working ones" },
  }),
  standstill: nullable(
    strict({ reason: oneOf(IDLE_REASONS), message: Type.String() }, { description: "why no task starts" }),
  ),
  disk: Type.Array(strict({ what: Type.String(), free_bytes: Count, least_free_bytes: Count })),
  memory: strict(
    { used_bytes: Count, limit_bytes: nullable(Count) },
    { description: "of the responding process, with its browsers" },
  ),
  series: strict(
    { ...steps, good: Numbers, bad: Numbers, in_flight: Numbers, queued: Numbers },
    { description: "of the last hour, as counted by this process; good and bad are pages per second" },
  ),
});
