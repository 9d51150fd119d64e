import type { Static } from "typebox";
import { END_REASONS } from "../../../domain/crawl/crawl-end.ts";
import type { CrawlInput } from "../../../domain/crawl/crawl-options.ts";
import { EXPORT_FORMATS } from "../../../exporters/registry.ts";
import { RUN_STATES } from "../../../domain/run/states.ts";
import { cancelCrawl, crawlHealth, listCrawls, showCrawl } from "../../../orchestrator/crawls/read.ts";
import { startCrawl } from "../../../orchestrator/crawls/start.ts";
import { type CrawlStatus, crawlStatusOf } from "../../../orchestrator/crawls/view.ts";
import type { ApiDeps } from "../../deps.ts";
import { IdempotencyHeaders, idempotencyMarkOf } from "../../idempotency.ts";
import type { ApiInstance } from "../../instance.ts";
import { cursorFilter, LINK_HEADER, pageQuery, sendPage } from "../../paging.ts";
import { Count, ShortIdParam, nullable, oneOf, problemAnswer, strict, Time, Uuid } from "../../schemas.ts";
import { crawlRules } from "../body-rules.ts";
import { CrawlBody } from "./crawl-schemas.ts";
import { ErrorGroupSchema, WaitingSite } from "../runs/run-progress.ts";
import { Changes, keptParts, RunWaits, Skipped, Starts, Warnings } from "../runs/run-schemas.ts";
import { Type } from "../../type.ts";

export const CRAWL_STATUSES = ["pending", ...RUN_STATES.filter((state) => state !== "queued")] as CrawlStatus[];

const counted = (description: string) => ({ ...Count, description });

export const CrawlId = { ...Uuid, description: "the id of the crawl, which is a run" };
/** In the crawl API `task_id` is the crawl; elsewhere a task is one page of it. */
export const CrawlIdAlias = { ...Uuid, description: "alias of crawl_id" };
/** The page's task, next to `task_id`, which is the crawl. */
export const PageTask = {
  page_task_id: { ...Uuid, description: "the task of the page, as in /jobs/runs/{crawl_id}/tasks/{page_task_id}" },
  task_id: { ...Uuid, description: "alias of page_task_id" },
};

const CrawlErrorGroup = strict({
  ...ErrorGroupSchema.properties,
  example: strict({ ...ErrorGroupSchema.properties.example.properties, ...PageTask }),
});

const Crawl = strict({
  crawl_id: CrawlId,
  task_id: CrawlIdAlias,
  name: nullable(Type.String()),
  url: nullable({ ...Type.String(), description: "the first start URL" }),
  urls: Starts,
  url_count: counted("number of start URLs"),
  status: oneOf(CRAWL_STATUSES),
  progress: Type.Integer({
    minimum: 0,
    maximum: 100,
    description:
      "percent of the known pages; never decreases, 100 only at the end; for a cancelled crawl, the last value",
  }),
  total_items: counted("known pages: the sum of the counts below"),
  max_pages: counted("maximum pages to fetch"),
  queued_items: counted("queued, or waiting for the next attempt"),
  retrying_items: counted("part of queued_items: failed, with a retry scheduled"),
  running_items: counted("in flight"),
  completed_items: counted("fetched"),
  failed_items: counted("failed after all attempts"),
  skipped_items: counted("skipped, because another page of the crawl is the same"),
  cancelled_items: counted("not done when the crawl was cancelled or reached its time limit"),
  unchanged_items: counted("part of completed_items: unchanged since the previous run of the job"),
  sign_in_items: counted("redirected to a sign-in page, which was fetched or skipped; their records have a warning"),
  followed_items: counted("part of completed_items: fetched only for their links (follow, read), without records"),
  skipped: Skipped,
  warnings: Warnings,
  changes: Changes,
  success_rate: Type.Number({
    minimum: 0,
    maximum: 1,
    description: "completed pages divided by completed and failed pages",
  }),
  duration_seconds: Type.Number({
    minimum: 0,
    description: "total running time, also before it was reopened; waiting and pauses do not count",
  }),
  time_remaining_seconds: nullable(
    Type.Number({ minimum: 0, description: "running time left of timeout_minutes; null: it has ended" }),
  ),
  pages_per_second: Type.Number({ minimum: 0, description: "ended pages per second of running time, since the start" }),
  errors: strict({ timeout: Count, connection: Count, general: Count }),
  goal: nullable(
    strict({
      text: Type.String(),
      pages_read: counted("pages compared with the goal"),
      relevant_pages: counted("part of pages_read: at least half as relevant as the best page then"),
      best_relevance: Type.Number({ minimum: 0, maximum: 1, description: "of the most relevant page" }),
    }),
  ),
  end_reason: nullable(oneOf(END_REASONS)),
  export_format: oneOf(EXPORT_FORMATS, {
    description: "as requested; orb crawl --resume writes its results in this format",
  }),
  created_at: Time,
  started_at: nullable(Time),
  finished_at: nullable(Time),
  ...keptParts,
  message: nullable(Type.String()),
  waiting_for: RunWaits,
});

const CrawlDetail = strict({
  ...Crawl.properties,
  error_groups: Type.Array(CrawlErrorGroup, { description: "failures by reason, the 20 most frequent" }),
  retrying_groups: Type.Array(CrawlErrorGroup, {
    description: "causes of scheduled retries, most frequent first; based on at most 1,000 pages",
  }),
  waiting_sites: Type.Array(WaitingSite, {
    description: "up to 5 sites where it waits, with the reason",
  }),
});

const Health = strict({
  healthy: Type.Boolean({ description: "false: see problems" }),
  problems: Type.Array(Type.String()),
  degraded: Type.Array(strict({ what: Type.String(), why: Type.String(), since: Time }), {
    description: "every degraded part, named as in GET /ready, and since when",
  }),
  active_tasks: Count,
  pending_tasks: Count,
  max_concurrent_tasks: Count,
  available_slots: Count,
  blocked_domains: Type.Array(strict({ domain: Type.String(), failures: Count, reopens_at: nullable(Time) }), {
    description: "at most 100 sites with an open circuit, the longest remaining time first",
  }),
  error_counts: strict({ timeout: Count, connection: Count, general: Count }),
  error_rate: Type.Number({ minimum: 0, maximum: 1 }),
  pages_per_second: Type.Number({ minimum: 0 }),
  window_seconds: Type.Number({ minimum: 0, description: "period of the counts and rates, at most five minutes" }),
  uptime_seconds: Count,
});

export const CrawlParams = strict({
  task_id: {
    ...ShortIdParam,
    description: "the crawl (crawl_id in responses): its id, a unique prefix of at least 6 characters, or `last`",
  },
});
export const unknownCrawl = problemAnswer("there is no such crawl");

const Temporary = Type.Optional(
  Type.Boolean({
    default: false,
    description: "delete it APP_RETENTION_HOURS after its end, unless it is marked to be kept",
  }),
);

export function scrapingRoutes(api: ApiInstance, deps: ApiDeps): void {
  api.post(
    "/scraping/async-scrape",
    {
      config: { role: "operator", limited: true, rules: crawlRules(deps) },
      schema: {
        summary: "Start a crawl in the background",
        operationId: "startCrawl",
        tags: ["crawls"],
        headers: IdempotencyHeaders,
        body: strict({ ...CrawlBody.properties, temporary: Temporary }),
        response: {
          202: strict({ crawl_id: CrawlId, task_id: CrawlIdAlias, status: oneOf(CRAWL_STATUSES) }),
          422: problemAnswer("a field is invalid, or the target is not allowed"),
        },
      },
    },
    async (request, reply) => {
      const { temporary = false, ...input } = request.body;
      const run = await startCrawl(deps, toInput(input), idempotencyMarkOf(deps, request), { temporary });
      const location = `/scraping/tasks/${run.id}/status`;
      // A repeated call gets the same response, whatever the crawl's current state.
      return reply
        .code(202)
        .header("location", location)
        .send({ crawl_id: run.id, task_id: run.id, status: crawlStatusOf("queued") });
    },
  );

  const begun = deps.clock.monotonic();
  api.get(
    "/scraping/status",
    {
      config: { role: "viewer" },
      schema: {
        summary: "State of all crawls together",
        operationId: "getCrawlHealth",
        tags: ["crawls"],
        response: { 200: Health },
      },
    },
    async () => ({
      ...(await crawlHealth(deps)),
      uptime_seconds: Math.round((deps.clock.monotonic() - begun) / 1000),
    }),
  );

  api.get(
    "/scraping/tasks",
    {
      config: { role: "viewer", limited: true },
      schema: {
        summary: "Crawls, newest first",
        operationId: "listCrawls",
        tags: ["crawls"],
        querystring: pageQuery({ status: Type.Optional(oneOf(CRAWL_STATUSES)) }),
        response: { 200: { ...Type.Array(Crawl), headers: LINK_HEADER } },
      },
    },
    async (request, reply) => {
      const { limit, status } = request.query;
      const filter = { ...(status === undefined ? {} : { status }), ...cursorFilter(request.query), limit: limit + 1 };
      const rows = (await listCrawls(deps, filter)) as Static<typeof Crawl>[];
      return sendPage(request, reply, { rows, limit, positionOf: (row) => row.task_id });
    },
  );

  api.get(
    "/scraping/tasks/:task_id/status",
    {
      config: { role: "viewer" },
      schema: {
        summary: "The progress of a crawl",
        operationId: "getCrawl",
        tags: ["crawls"],
        params: CrawlParams,
        response: { 200: CrawlDetail, 404: unknownCrawl },
      },
    },
    async (request) => (await showCrawl(deps, request.params.task_id)) as Static<typeof CrawlDetail>,
  );

  api.delete(
    "/scraping/tasks/:task_id",
    {
      config: { role: "operator" },
      schema: {
        summary: "Cancel a crawl; its results stay readable",
        operationId: "cancelCrawl",
        tags: ["crawls"],
        params: CrawlParams,
        response: { 200: Crawl, 404: unknownCrawl, 409: problemAnswer("the crawl has ended") },
      },
    },
    async (request) => (await cancelCrawl(deps, request.params.task_id)) as Static<typeof Crawl>,
  );
}

function toInput(body: Static<typeof CrawlBody>): CrawlInput & { name?: string } {
  return body as CrawlInput & { name?: string };
}
