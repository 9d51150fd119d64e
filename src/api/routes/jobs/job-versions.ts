import { JOB_AUTHORS, KEPT_VERSIONS } from "../../../domain/run/job-author.ts";
import { listVersions, restoreVersion, showVersion } from "../../../orchestrator/jobs/versions.ts";
import type { ApiDeps } from "../../deps.ts";
import type { ApiInstance } from "../../instance.ts";
import { badCursor, decodeCursor, LINK_HEADER, pageQuery, sendPage } from "../../paging.ts";
import { ActorSchema } from "../access/keys.ts";
import { IdParam, nullable, oneOf, problemAnswer, strict, Time } from "../../schemas.ts";
import { Type } from "../../type.ts";
import { expectedVersion, VersionHeaders } from "../../versions.ts";
import { authorOf } from "./job-author.ts";
import { Job } from "./job-schemas.ts";

const number = (description: string) => Type.Integer({ minimum: 1, description });

const about = {
  version: number("from 1; the newest is the job as it is"),
  made_at: Time,
  made_by: nullable({
    ...ActorSchema,
    description:
      "who made the change; repair: the program, by auto_repair. null: a program that calls the library, or a version from before this was recorded",
  }),
  author: oneOf(JOB_AUTHORS, {
    description:
      "which program made the change, as it names itself; repair: an accepted repair, upgrade: the job was there before versions were kept",
  }),
  restored_version: nullable(number("the version whose definition it took again")),
};

const JobVersion = strict(about);

const {
  id: _id,
  site: _site,
  last_run: _last,
  next_run_at: _next,
  version: _version,
  created_at: _created,
  updated_at: _updated,
  ...definition
} = Job.properties;

const JobVersionDetails = strict({
  ...about,
  definition: strict(definition, { description: "the job in this version, without the values of headers and cookies" }),
  compared_with: nullable(number("the version before; null: there is none, or it is no longer kept")),
  changes: Type.Array(
    strict({
      path: Type.String({ description: "such as fields.price.css; credentials: a secret value changed" }),
      before: Type.Unknown(),
      after: Type.Unknown(),
    }),
    { description: "what the version changed" },
  ),
});

const Params = strict({ job_id: IdParam });
const VersionParams = strict({
  job_id: IdParam,
  version: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
});
const unknownJob = problemAnswer("there is no such job");
const unknownVersion = problemAnswer("there is no such job, or no such version");

function before(cursor: string | undefined): { before?: number } {
  const text = decodeCursor(cursor);
  if (text === undefined) return {};
  if (!/^[1-9]\d{0,14}$/.test(text)) throw badCursor();
  return { before: Number(text) };
}

/** Every change of a job is a version. */
export function jobVersionRoutes(api: ApiInstance, deps: ApiDeps): void {
  api.get(
    "/jobs/:job_id/versions",
    {
      config: { role: "viewer" },
      schema: {
        summary: `The newest ${KEPT_VERSIONS} versions of a job, newest first: every change of it is one`,
        operationId: "listJobVersions",
        tags: ["jobs"],
        params: Params,
        querystring: pageQuery({}),
        response: { 200: { ...Type.Array(JobVersion), headers: LINK_HEADER }, 404: unknownJob },
      },
    },
    async (request, reply) => {
      const { limit, cursor } = request.query;
      const rows = await listVersions(deps, request.params.job_id, { ...before(cursor), limit: limit + 1 });
      return sendPage(request, reply, { rows, limit, positionOf: ({ version }) => String(version) });
    },
  );

  api.get(
    "/jobs/:job_id/versions/:version",
    {
      config: { role: "viewer" },
      schema: {
        summary: "One version of a job, and what it changed",
        operationId: "getJobVersion",
        tags: ["jobs"],
        params: VersionParams,
        response: { 200: JobVersionDetails, 404: unknownVersion },
      },
    },
    (request) => showVersion(deps, request.params.job_id, request.params.version),
  );

  api.post(
    "/jobs/:job_id/versions/:version/restore",
    {
      config: { role: "operator" },
      schema: {
        summary: "Restore a version of a job: its definition becomes a new version",
        operationId: "restoreJobVersion",
        tags: ["jobs"],
        params: VersionParams,
        headers: VersionHeaders,
        response: {
          200: { ...JobVersionDetails, description: "the newest version; the same as before if nothing differs" },
          404: unknownVersion,
          409: problemAnswer("the job was changed since the version in If-Match"),
          422: problemAnswer("its session or its extractor does not exist any more"),
        },
      },
    },
    (request) => {
      const { job_id, version } = request.params;
      return restoreVersion(deps, job_id, version, authorOf(request), expectedVersion(request));
    },
  );
}
