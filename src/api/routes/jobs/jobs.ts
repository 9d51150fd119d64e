import type { JobInput } from "../../../orchestrator/jobs/input.ts";
import { changeJob, createJob, deleteJob, listJobs, requireJob, showJob } from "../../../orchestrator/jobs/manage.ts";
import { listRuns } from "../../../orchestrator/runs/read.ts";
import { startJobRun } from "../../../orchestrator/runs/start.ts";
import type { ApiDeps } from "../../deps.ts";
import { IdempotencyHeaders, idempotencyMarkOf } from "../../idempotency.ts";
import type { ApiInstance } from "../../instance.ts";
import { cursorFilter, LINK_HEADER, pageQuery, sendPage } from "../../paging.ts";
import { IdParam, oneOf, problemAnswer, strict } from "../../schemas.ts";
import { expectedVersion, VersionHeaders } from "../../versions.ts";
import { jobRules } from "../body-rules.ts";
import { authorOf } from "./job-author.ts";
import { Job, JobBody, JobChange } from "./job-schemas.ts";
import { Deletion, shown } from "../runs/run-deletion.ts";
import { Run } from "../runs/run-schemas.ts";
import { Type } from "../../type.ts";

const Params = strict({ job_id: IdParam });
const unknownJob = problemAnswer("there is no such job");
const live = problemAnswer("one of its runs has not ended");
const lockedJob = problemAnswer(
  "it was changed since that version, or the change affects credentials that were encrypted with another key",
);
const badJob = problemAnswer("a field is invalid, or the target is not allowed");

const filters = {
  tag: Type.Optional(Type.String({ maxLength: 100 })),
  site: Type.Optional(Type.String({ maxLength: 300 })),
  q: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: "part of the name or URL" })),
};

function filterOf(query: { tag?: string; site?: string; q?: string }) {
  return {
    ...(query.tag === undefined ? {} : { tag: query.tag }),
    ...(query.site === undefined ? {} : { site: query.site }),
    ...(query.q === undefined ? {} : { q: query.q }),
  };
}

export function jobRoutes(api: ApiInstance, deps: ApiDeps): void {
  api.post(
    "/jobs",
    {
      config: { role: "operator", limited: true, rules: jobRules(deps) },
      schema: {
        summary: "Create a job",
        operationId: "createJob",
        tags: ["jobs"],
        headers: IdempotencyHeaders,
        body: JobBody,
        response: { 201: Job, 422: badJob },
      },
    },
    async (request, reply) => {
      const job = await createJob(deps, request.body as JobInput, idempotencyMarkOf(deps, request), authorOf(request));
      return reply.code(201).header("location", `/jobs/${job.id}`).send(job);
    },
  );

  api.get(
    "/jobs",
    {
      config: { role: "viewer", limited: true },
      schema: {
        summary: "Jobs, newest first",
        operationId: "listJobs",
        tags: ["jobs"],
        querystring: pageQuery(filters),
        response: { 200: { ...Type.Array(Job), headers: LINK_HEADER } },
      },
    },
    async (request, reply) => {
      const { limit } = request.query;
      const rows = await listJobs(deps, {
        ...filterOf(request.query),
        ...cursorFilter(request.query),
        limit: limit + 1,
      });
      return sendPage(request, reply, { rows, limit, positionOf: ({ id }) => id });
    },
  );

  api.get(
    "/jobs/:job_id",
    {
      config: { role: "viewer" },
      schema: {
        summary: "One job",
        operationId: "getJob",
        tags: ["jobs"],
        params: Params,
        response: { 200: Job, 404: unknownJob },
      },
    },
    async (request, reply) => {
      const job = await showJob(deps, request.params.job_id);
      return reply.header("etag", `"${job.version}"`).send(job);
    },
  );

  api.patch(
    "/jobs/:job_id",
    {
      config: { role: "operator" },
      schema: {
        summary: "Update a job; running runs keep the old settings",
        operationId: "changeJob",
        tags: ["jobs"],
        params: Params,
        headers: VersionHeaders,
        body: JobChange,
        response: { 200: Job, 404: unknownJob, 409: lockedJob, 422: badJob },
      },
    },
    (request) => {
      const { version, ...change } = request.body;
      const expected = expectedVersion(request, version);
      return changeJob(deps, request.params.job_id, change as JobInput, expected, authorOf(request));
    },
  );

  api.delete(
    "/jobs/:job_id",
    {
      config: { role: "operator" },
      schema: {
        summary: "Delete a job, and its runs if requested",
        operationId: "deleteJob",
        tags: ["jobs"],
        params: Params,
        querystring: strict({
          force: Type.Boolean({ default: false, description: "cancel its active runs first" }),
          runs: Type.Optional(
            oneOf(["keep", "delete"], {
              description:
                "delete: also delete its runs with their results and files, in the background. Default: keep",
            }),
          ),
        }),
        response: {
          202: { ...Deletion, description: "the job is deleted; its runs are being deleted" },
          204: Type.Null(),
          404: unknownJob,
          409: live,
        },
      },
    },
    async (request, reply) => {
      const { force, runs = "keep" } = request.query;
      const deletion = await deleteJob(deps, request.params.job_id, { force, runs });
      return deletion === null ? reply.code(204).send(null) : reply.code(202).send(shown(deletion));
    },
  );

  api.post(
    "/jobs/:job_id/runs",
    {
      config: { role: "operator" },
      schema: {
        summary: "Run a job now",
        operationId: "startRun",
        tags: ["runs"],
        params: Params,
        headers: IdempotencyHeaders,
        response: { 201: Run, 404: unknownJob },
      },
    },
    async (request, reply) => {
      const run = await startJobRun(deps, request.params.job_id, idempotencyMarkOf(deps, request));
      return reply.code(201).header("location", `/jobs/runs/${run.id}`).send(run);
    },
  );

  api.get(
    "/jobs/:job_id/runs",
    {
      config: { role: "viewer" },
      schema: {
        summary: "Runs of a job, newest first",
        operationId: "listJobRuns",
        tags: ["runs"],
        params: Params,
        querystring: pageQuery({}, { most: 100, normally: 25 }),
        response: { 200: { ...Type.Array(Run), headers: LINK_HEADER }, 404: unknownJob },
      },
    },
    async (request, reply) => {
      const { limit } = request.query;
      const jobId = request.params.job_id;
      await requireJob(deps, jobId);
      const rows = await listRuns(deps, { jobId, ...cursorFilter(request.query), limit: limit + 1 });
      return sendPage(request, reply, { rows, limit, positionOf: ({ id }) => id });
    },
  );
}
