import { REPAIR_STATES } from "../../../domain/health/repair.ts";
import { acceptRepair, proposeRepair, rejectRepair, showRepair } from "../../../orchestrator/jobs/repair.ts";
import type { ApiDeps } from "../../deps.ts";
import type { ApiInstance } from "../../instance.ts";
import { Count, IdParam, nullable, oneOf, problemAnswer, strict, Time, Uuid } from "../../schemas.ts";
import { Type } from "../../type.ts";
import { ActorSchema } from "../access/keys.ts";
import { untilCallerLeaves } from "../pages/page-source.ts";

const Params = strict({ job_id: IdParam });

const JobRepair = strict({
  job_id: Uuid,
  number: Type.Integer({ minimum: 1, description: "of the proposals of this job" }),
  state: oneOf(REPAIR_STATES, {
    description:
      "open: waits for a decision. abstained: nothing could be repaired beyond doubt. outdated: a later run was good again",
  }),
  run_id: { ...Uuid, description: "the degraded run" },
  version: Type.Integer({ minimum: 1, description: "the version of the job that it repairs" }),
  made_at: Time,
  decided_at: nullable(Time),
  decided_by: nullable({
    ...ActorSchema,
    description: "who accepted or rejected it; repair: the program, by auto_repair. null: nobody yet, or not known",
  }),
  reason: nullable(
    Type.String({ description: "why nothing could be tried, or why it was not accepted automatically" }),
  ),
  pages: strict(
    { paired: Count, others: Count },
    { description: "pages of the degraded run: with a saved page of the same URL, and others" },
  ),
  fields: Type.Array(
    strict({
      field: nullable(Type.String({ description: "null: the rule items, which finds the records" })),
      old_rule: Type.Unknown(),
      new_rule: Type.Unknown({ description: "null: none, see reason" }),
      confidence: nullable(Type.Number({ minimum: 0, maximum: 1 })),
      reason: nullable(Type.String({ description: "why there is no new rule" })),
      values: Type.Array(
        strict({
          url: Type.String(),
          saved: Type.Unknown({ description: "what the saved page gave" }),
          before: Type.Unknown({ description: "what the old rule gives on the page as it is now" }),
          after: Type.Unknown({ description: "what the new rule gives there" }),
        }),
        { description: "on up to 5 pages of the degraded run; of items, the number of records" },
      ),
    }),
  ),
});

const Seen = strict({
  number: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: "the proposal that is meant; 409 if a newer one has replaced it, 404 if there never was one",
    }),
  ),
});

const Accepted = strict({
  ...Seen.properties,
  reread: Type.Boolean({
    default: false,
    description:
      "also read the kept pages of the degraded run by the new rules, and replace its records in the same transaction; nothing is fetched",
  }),
});

const noJob = problemAnswer("there is no such job");
const noRepair = problemAnswer("there is no such job, or it has no proposal");

/** Proposals that repair the rules of a job. */
export function jobRepairRoutes(api: ApiInstance, deps: ApiDeps): void {
  api.get(
    "/jobs/:job_id/repair",
    {
      config: { role: "viewer" },
      schema: {
        summary: "The newest repair proposal of a job",
        operationId: "getJobRepair",
        tags: ["jobs"],
        params: Params,
        response: { 200: JobRepair, 404: noRepair },
      },
    },
    (request) => showRepair(deps, request.params.job_id),
  );

  api.post(
    "/jobs/:job_id/repair",
    {
      config: { role: "operator", audit: "job.repair_proposed" },
      schema: {
        summary: "Propose new rules for the broken fields of a job, from its newest degraded run; nothing is fetched",
        operationId: "proposeJobRepair",
        tags: ["jobs"],
        params: Params,
        response: {
          200: JobRepair,
          404: noJob,
          409: problemAnswer("the newest run is not degraded, or the job was changed meanwhile"),
        },
      },
    },
    (request, reply) => proposeRepair(deps, request.params.job_id, untilCallerLeaves(reply)),
  );

  api.post(
    "/jobs/:job_id/repair/accept",
    {
      config: { role: "operator" },
      schema: {
        summary: "Accept the open repair proposal: the job gets the new rules as a new version",
        operationId: "acceptJobRepair",
        tags: ["jobs"],
        params: Params,
        querystring: Accepted,
        response: {
          200: JobRepair,
          404: noRepair,
          409: problemAnswer(
            "the proposal is not open, the job was changed since, or the degraded run cannot be read again",
          ),
        },
      },
    },
    (request, reply) => acceptRepair(deps, request.params.job_id, request.query, untilCallerLeaves(reply)),
  );

  api.post(
    "/jobs/:job_id/repair/reject",
    {
      config: { role: "operator" },
      schema: {
        summary: "Reject the open repair proposal",
        operationId: "rejectJobRepair",
        tags: ["jobs"],
        params: Params,
        querystring: Seen,
        response: { 200: JobRepair, 404: noRepair, 409: problemAnswer("the proposal is not open") },
      },
    },
    (request) => rejectRepair(deps, request.params.job_id, request.query.number),
  );
}
