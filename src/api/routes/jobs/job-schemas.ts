/** Schemas of jobs in requests and responses. */
import { ON_DEGRADED } from "../../../domain/health/on-degraded.ts";
import { FIXTURES_SETTING } from "../../../domain/page/fixture.ts";
import { MONITOR_LIMITS, MONITORED, NOISE_CLASSES } from "../../../domain/monitor/options.ts";
import { STRATEGIES } from "../../../domain/run/recipe.ts";
import { RUN_STATES } from "../../../domain/run/states.ts";
import type { SourceInput } from "../../../orchestrator/jobs/input.ts";
import { nullable, oneOf, strict, Time, Uuid } from "../../schemas.ts";
import { Version } from "../../versions.ts";
import { JobCrawl, JobCrawlBody } from "../pages/crawl-schemas.ts";
import { sourceParts } from "../workflows/workflow-schemas.ts";
import { Extract, Fields, Items, RecordSchema } from "../system/reading-schemas.ts";
import { BrowserBody, BrowserShown, DocumentBody, DocumentShown } from "../pages/page-option-schemas.ts";
import { Headers, SessionRef } from "../pages/header-schemas.ts";
import { Notify } from "../notifications/notification-schemas.ts";
import { Proxy } from "../sites/proxy-schemas.ts";
import { Type } from "../../type.ts";

/** Any JSON; the rule parser validates it and reports the path of every error. */
const Json = (description: string) => Type.Unknown({ description });

export const CookieList = Type.Array(
  strict({
    name: Type.String({ minLength: 1, maxLength: 1024 }),
    value: Type.String({ maxLength: 8192 }),
    domain: Type.Optional(Type.String({ maxLength: 255 })),
    path: Type.Optional(Type.String({ maxLength: 1024 })),
    expires: Type.Optional(Type.Number()),
    httpOnly: Type.Optional(Type.Boolean()),
    secure: Type.Optional(Type.Boolean()),
    sameSite: Type.Optional(oneOf(["Strict", "Lax", "None"])),
  }),
  { maxItems: 500 },
);
export const CookieForms = [Type.Record(Type.String(), Type.String({ maxLength: 8192 })), CookieList] as const;
export const Cookies = nullable(
  Type.Union([...CookieForms], {
    description: "by name, or as a list; sent to the target's origin only, and never shown again",
  }),
);

const scheduleParts = {
  cron: Type.String({ maxLength: 200 }),
  timezone: nullable(Type.String({ maxLength: 100 })),
  overlap: oneOf(["skip", "queue", "cancel"]),
  missed: oneOf(["skip", "run_once"]),
  jitter_seconds: Type.Number({ minimum: 0, maximum: 86_400 }),
};

const settings = {
  name: nullable(Type.String({ minLength: 1, maxLength: 200 })),
  strategy: oneOf(STRATEGIES),
  requires_auth: Type.Boolean(),
  fields: Fields,
  items: Items,
  schema: RecordSchema,
  extract: Extract,
  max_attempts: nullable(Type.Integer({ minimum: 1, maximum: 1000, description: "maximum attempts" })),
  timezone: nullable(Type.String({ maxLength: 100 })),
  tags: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 50 }),
  keep_runs: nullable(
    Type.Integer({
      minimum: 0,
      maximum: 10_000_000,
      description:
        "number of ended runs to keep; older ones are deleted with their results and files. 0: all, null: APP_KEEP_RUNS",
    }),
  ),
  keep_days: nullable(
    Type.Integer({
      minimum: 0,
      maximum: 36_500,
      description: "days after which an ended run is deleted. 0: never, null: APP_KEEP_DAYS",
    }),
  ),
  on_degraded: oneOf(ON_DEGRADED, {
    description:
      "if the records of a run are worse than before: alert (the default), pause_schedule (alert, and pause the schedule), fail (alert, and the run fails; its records are kept); only for pages and crawls",
  }),
  fixtures: nullable(
    Type.Integer({
      minimum: FIXTURES_SETTING.minimum,
      maximum: FIXTURES_SETTING.maximum,
      description: FIXTURES_SETTING.description,
    }),
  ),
  auto_repair: Type.Boolean({
    description:
      "if the rules of a run broke by a change of the pages: accept a repair that is beyond doubt, and read the pages of the run again (default: false); only for pages and crawls",
  }),
  notify: Notify,
  escalate: Type.Boolean({
    description:
      "with http and api_replay: after a block or a page that is empty without JavaScript, the next attempt uses a browser; no effect with auto",
  }),
  respect_robots: Type.Boolean(),
  documents: Type.Boolean({
    description:
      "false: a document, such as a PDF or an Office file, is not read and fails as not_html (default: true)",
  }),
  timeout_seconds: nullable(Type.Number({ exclusiveMinimum: 0, maximum: 3600 })),
  session_id: SessionRef,
  proxy: Proxy,
  replay: Json("the request for strategy api_replay: {request, items, pagination}; docs/jobs.md describes it"),
};

const MonitorKeys = strict({
  what: oneOf(MONITORED, { description: "what is compared (default: text)" }),
  ignore: Type.Array(Type.String({ minLength: 1, maxLength: 1000 }), {
    maxItems: MONITOR_LIMITS.ignore,
    description: "/regular expressions/ and CSS selectors of what does not count; of fields: names of fields",
  }),
  noise: Type.Array(oneOf(NOISE_CLASSES), {
    maxItems: NOISE_CLASSES.length,
    description: "what never counts: dates, counters, ids (default: all of them)",
  }),
  learn: Type.Boolean({ description: "leave out what a page changes on its own (default: true)" }),
  watch: Type.Array(Type.String({ minLength: 1, maxLength: 1000 }), {
    maxItems: MONITOR_LIMITS.watch,
    description:
      "places that count although they change on their own: as a change names them in ignored, or /regular expressions/ of their names or lines",
  }),
  min_words: Type.Integer({
    minimum: 1,
    maximum: MONITOR_LIMITS.minWords,
    description: "fewer changed words are no change",
  }),
  min_share: nullable(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: "a smaller share of changed words, or pixels, is no change (default: 0, of a screenshot 0.001)",
    }),
  ),
  key: nullable(
    Type.String({ minLength: 1, maxLength: 500, description: "of fields: the field that identifies a record" }),
  ),
  keep: Type.Integer({ minimum: 1, maximum: MONITOR_LIMITS.keep, description: "changes to keep (default: 1000)" }),
});

const JOB_KINDS = ["page", "crawl", "workflow"] as const;

const jobKeys = {
  ...settings,
  kind: oneOf(JOB_KINDS),
  target_url: Type.String({ minLength: 1, maxLength: 8192 }),
  headers: Headers,
  cookies: Cookies,
  schedule: nullable(
    Type.Union([
      Type.String({ maxLength: 200, description: "cron with 5 or 6 fields" }),
      Type.Object(
        {
          cron: scheduleParts.cron,
          timezone: Type.Optional(scheduleParts.timezone),
          overlap: Type.Optional(scheduleParts.overlap),
          missed: Type.Optional(scheduleParts.missed),
          jitter_seconds: Type.Optional(scheduleParts.jitter_seconds),
        },
        { additionalProperties: false },
      ),
    ]),
  ),
  document: DocumentBody,
  browser: BrowserBody,
  monitor: nullable(Type.Partial(MonitorKeys, { additionalProperties: false })),
  crawl: JobCrawlBody,
  workflow: nullable(strict(sourceParts)),
};

/** A job in a request. Only the URL (of a workflow: the definition or template) is required. */
export const JobBody = Type.Partial(strict(jobKeys), { additionalProperties: false });
export const JobChange = Type.Partial(strict({ ...jobKeys, version: Version }), {
  additionalProperties: false,
  minProperties: 1,
});

const {
  kind: _kind,
  crawl: _crawl,
  workflow: _workflow,
  schedule: _when,
  timezone: _where,
  tags: _tags,
  keep_runs: _runs,
  keep_days: _days,
  on_degraded: _degraded,
  fixtures: _fixtures,
  auto_repair: _repair,
  monitor: _monitor,
  notify: _notify,
  ...pageKeys
} = jobKeys;
/** One page, fetched once, without a job. */
export const PageBody = strict({ ...Type.Partial(strict(pageKeys)).properties, target_url: jobKeys.target_url });

const LastRun = strict(
  {
    id: Uuid,
    kind: Type.String(),
    status: oneOf(RUN_STATES),
    progress: Type.Integer({ minimum: 0, maximum: 100 }),
    created_at: Time,
    started_at: nullable(Time),
    finished_at: nullable(Time),
  },
  { description: "its newest run; null: none yet" },
);

export const Job = strict({
  id: Uuid,
  ...settings,
  kind: oneOf(JOB_KINDS),
  target_url: nullable(Type.String({ description: "null for workflows" })),
  site: nullable(Type.String()),
  schedule: nullable(strict(scheduleParts)),
  document: DocumentShown,
  browser: BrowserShown,
  header_names: Type.Array(Type.String()),
  cookie_names: Type.Array(Type.String()),
  monitor: nullable({ ...MonitorKeys, description: "compares every run with the last good one; null: no monitor" }),
  crawl: nullable(JobCrawl),
  workflow: nullable(Type.Unsafe<SourceInput>(strict(sourceParts))),
  last_run: nullable(LastRun),
  next_run_at: nullable(Time),
  version: Version,
  created_at: Time,
  updated_at: Time,
});
