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
    description: "of a workflow at work: the steps it is at, three at most",
  }),
  counts: strict({
    queued: Count,
    running: { ...Count, description: "in the hands of those who work, begun or about to be" },
    retrying: Count,
    completed: Count,
    failed: Count,
    skipped: Count,
  }),
  per_second: { ...Rate, description: "what ended of it, over the last ten seconds" },
  eta_seconds: nullable({ ...Rate, description: "lower bound until its end at that pace; null: unknown" }),
  eta_most_seconds: nullable({
    ...Rate,
    description: "of a crawl: if it keeps finding pages at the recent rate; null: unknown",
  }),
});

const TroubledSite = strict({
  site: Type.String(),
  trouble: oneOf(TROUBLES, {
    description: "failing: many of the last requests failed; held: rate limited",
  }),
  message: Type.String({ description: "a sentence for people" }),
  until: nullable({ ...Time, description: "null: not a matter of time" }),
  error_rate: nullable(Type.Number({ minimum: 0, maximum: 1 })),
  waiting: { ...Count, description: "pages that wait there" },
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
  first_at: nullable({ ...Time, description: "when the first step began; null: nothing was counted yet" }),
};

/** One number per step; null: not sampled. */
const Numbers = Type.Array(nullable(Type.Number()), { description: "one for each step; null: nobody counted" });

export const SiteSeries = strict({ ...steps, good: Numbers, bad: Numbers });

export const Overview = strict({
  pages_per_second: strict({ good: Rate, bad: Rate }, { description: "that ended, over the last ten seconds" }),
  success_rate: nullable(
    Type.Number({ minimum: 0, maximum: 1, description: "of what ended in the last five minutes; null: nothing did" }),
  ),
  recent_pages: strict(
    { good: Count, bad: Count },
    { description: "pages that ended in the last five minutes, about: of a few, success_rate says little" },
  ),
  in_flight: { ...Count, description: "what workers have under way, as they said last" },
  queued: Count,
  retrying: { ...Count, description: "of the queued ones: failed, and tried again later" },
  oldest_queued_at: nullable({ ...Time, description: "when the page was added that has waited longest" }),
  runs: Type.Object(Object.fromEntries(ACTIVE_STATES.map((state) => [state, Count])), {
    additionalProperties: false,
    description: "runs that have not ended, by status, without those that steps of workflows have started",
  }),
  active_runs: Type.Array(LiveRun, {
    description: "up to 20: those at work first, then those that wait, newest first",
  }),
  sites: strict({ known: Count, active: Count, waiting: Count, paused: Count, blocked: Count }),
  troubled_sites: Type.Array(TroubledSite),
  failures: Type.Array(FailureGroup, {
    description: "of runs that go on or have ended within the hour, by reason, with an example of the newest run",
  }),
  workers: strict({
    working: Count,
    standby: { ...Count, description: "that take over when the one that works is gone; they are not among `working`" },
    draining: Count,
    drained: Count,
    lost: Count,
    in_flight: Count,
    capacity: { ...Count, description: "how many tasks those that work may have under way" },
  }),
  standstill: nullable(
    strict({ reason: oneOf(IDLE_REASONS), message: Type.String() }, { description: "why nobody begins anything" }),
  ),
  disk: Type.Array(strict({ what: Type.String(), free_bytes: Count, least_free_bytes: Count })),
  memory: strict(
    { used_bytes: Count, limit_bytes: nullable(Count) },
    { description: "of the process that answers, with its browsers" },
  ),
  series: strict(
    { ...steps, good: Numbers, bad: Numbers, in_flight: Numbers, queued: Numbers },
    { description: "of the last hour, as far as this process has counted; good and bad are pages a second" },
  ),
});
