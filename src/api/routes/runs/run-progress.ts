import { ERROR_CLASSES } from "../../../domain/crawl/crawl-end.ts";
import { FAILURE_CODES, FAILURE_REASONS, type FailureReason } from "../../../domain/run/failure.ts";
import { TASK_STATES } from "../../../domain/run/states.ts";
import {
  ERROR_STATUSES,
  listErrorGroups,
  type RetryInput,
  retryFailedTasks,
} from "../../../orchestrator/runs/failed.ts";
import { viewOf } from "../../../orchestrator/runs/read.ts";
import { listRunSites } from "../../../orchestrator/runs/sites.ts";
import type { ApiDeps } from "../../deps.ts";
import type { ApiInstance } from "../../instance.ts";
import { decodeCursor, LINK_HEADER, pageQuery, sendPage } from "../../paging.ts";
import { Count, nullable, oneOf, strict, Time, Uuid } from "../../schemas.ts";
import { LastFailure, Run, RunWaits } from "./run-schemas.ts";
import { RunParams, unknownRun, wrongState } from "./runs.ts";
import { Type } from "../../type.ts";
import { PAGE_CHANGES } from "../../../domain/page/page-change.ts";
import { listPageChanges } from "../../../orchestrator/runs/changes.ts";

const Reason = oneOf(Object.keys(FAILURE_REASONS) as FailureReason[]);

export const ErrorGroupSchema = strict({
  failure_code: oneOf(FAILURE_CODES),
  failure_reason: Reason,
  class: oneOf(ERROR_CLASSES),
  count: Count,
  status: oneOf(["failed", "retrying"], { description: "failed: after all attempts; retrying: a retry is scheduled" }),
  retryable: Type.Boolean({ description: "whether a retry may fix the failure" }),
  next_try_at: nullable({ ...Time, description: "time of the next retry; null: none" }),
  example: strict({ url: nullable(Type.String()), message: Type.String(), task_id: Uuid }),
});

const ShownErrorGroup = strict({
  ...ErrorGroupSchema.properties,
  example: strict({
    ...ErrorGroupSchema.properties.example.properties,
    screenshot_id: nullable({
      ...Uuid,
      description: "a screenshot of the page, for GET /artifacts/{id}; null: none is stored",
    }),
    snapshot_id: nullable({ ...Uuid, description: "its HTML" }),
  }),
});

export const WaitingSite = strict({ site: Type.String(), waiting_for: RunWaits, last_failure: LastFailure });

const RunSite = strict({
  site: Type.String(),
  counts: strict({
    queued: Count,
    running: { ...Count, description: "in flight, within the limits of the site and of the crawl" },
    retrying: Count,
    completed: Count,
    failed: Count,
    skipped: Count,
  }),
  waiting_for: RunWaits,
  next_try_at: nullable(Time),
  last_failure: LastFailure,
  held_until: nullable(Time),
  breaker: strict({ state: oneOf(["closed", "open", "half_open"]), failures: Count, reopens_at: nullable(Time) }),
});

const Retried = strict({ ...Run.properties, retried: { ...Count, description: "retried tasks" } });

/** All failures, or those that match all conditions. */
const Choice = Type.Union([
  strict({
    failure_code: Type.Optional(oneOf(FAILURE_CODES)),
    failure_reason: Type.Optional(Reason),
    site: Type.Optional(Type.String({ minLength: 1, maxLength: 300 })),
    task_ids: Type.Optional(Type.Array(Uuid, { minItems: 1, maxItems: 1000 })),
  }),
  Type.Null({ description: "no body: all failed tasks" }),
]);

/** Progress of a run by site, its failures, and retrying them. */
export function runProgressRoutes(api: ApiInstance, deps: ApiDeps): void {
  api.get(
    "/jobs/runs/:run_id/sites",
    {
      config: { role: "viewer" },
      schema: {
        summary: "The progress of a run per site, and why work waits",
        operationId: "listRunSites",
        tags: ["runs"],
        params: RunParams,
        querystring: pageQuery({
          status: Type.Optional(oneOf(TASK_STATES, { description: "only sites that have tasks in this state" })),
        }),
        response: { 200: { ...Type.Array(RunSite), headers: LINK_HEADER }, 404: unknownRun },
      },
    },
    async (request, reply) => {
      const { limit, status } = request.query;
      const after = decodeCursor(request.query.cursor);
      const rows = await listRunSites(deps, request.params.run_id, {
        ...(status === undefined ? {} : { state: status }),
        ...(after === undefined ? {} : { after }),
        limit: limit + 1,
      });
      return sendPage(request, reply, { rows, limit, positionOf: ({ site }) => site });
    },
  );

  api.get(
    "/jobs/runs/:run_id/errors",
    {
      config: { role: "viewer" },
      schema: {
        summary: "Failures of a run by reason, each with an example: scheduled retries first, then by frequency",
        operationId: "listRunErrors",
        tags: ["runs"],
        params: RunParams,
        querystring: strict({
          status: Type.Optional(
            oneOf(ERROR_STATUSES, {
              description:
                "failed (default): tasks that failed after all attempts; retrying: tasks with a scheduled retry; retryable: tasks of both groups whose failure a retry may fix; all: both groups",
            }),
          ),
        }),
        response: { 200: Type.Array(ShownErrorGroup), 404: unknownRun },
      },
    },
    (request) => listErrorGroups(deps, request.params.run_id, request.query.status),
  );

  api.get(
    "/jobs/runs/:run_id/changes",
    {
      config: { role: "viewer" },
      schema: {
        summary: "New, changed and gone pages of a run of a saved crawl, in this order",
        operationId: "listRunChanges",
        tags: ["runs"],
        params: RunParams,
        querystring: pageQuery({ change: Type.Optional(oneOf(PAGE_CHANGES, { description: "only these changes" })) }),
        response: {
          200: {
            ...Type.Array(strict({ url: Type.String(), change: oneOf(PAGE_CHANGES) })),
            headers: LINK_HEADER,
          },
          404: unknownRun,
        },
      },
    },
    async (request, reply) => {
      const { limit, change } = request.query;
      const after = decodeCursor(request.query.cursor);
      const rows = await listPageChanges(deps, request.params.run_id, {
        ...(change === undefined ? {} : { change }),
        ...(after === undefined ? {} : { after }),
        limit: limit + 1,
      });
      const page = sendPage(request, reply, { rows, limit, positionOf: ({ cursor }) => cursor });
      return page.map(({ url, change: kind }) => ({ url, change: kind }));
    },
  );

  api.post(
    "/jobs/runs/:run_id/retry-failed",
    {
      config: { role: "operator" },
      schema: {
        summary: "Retry failed tasks, all or filtered; reopens an ended run",
        operationId: "retryFailedTasks",
        tags: ["runs"],
        params: RunParams,
        body: Choice,
        response: { 200: Retried, 404: unknownRun, 409: wrongState },
      },
    },
    async (request) => {
      const { run, retried } = await retryFailedTasks(deps, request.params.run_id, (request.body ?? {}) as RetryInput);
      return { ...(await viewOf(deps, run)), retried };
    },
  );
}
