import { FIELD_RESULTS } from "../../../domain/page/record-diff.ts";
import { deleteFixture, listFixtures, type RulesInput, testRules } from "../../../orchestrator/jobs/fixtures.ts";
import type { ApiDeps } from "../../deps.ts";
import type { ApiInstance } from "../../instance.ts";
import { IdParam, nullable, oneOf, problemAnswer, strict, Time, Uuid } from "../../schemas.ts";
import { Type } from "../../type.ts";
import { untilCallerLeaves } from "../pages/page-source.ts";
import { Fields, Items, RecordSchema } from "../system/reading-schemas.ts";

const Params = strict({ job_id: IdParam });
const unknownJob = problemAnswer("there is no such job");
const count = Type.Integer({ minimum: 0 });

const about = {
  number: Type.Integer({ minimum: 1, description: "for DELETE /jobs/{job_id}/fixtures/{number}" }),
  url: Type.String(),
  fetched_at: Time,
  run_id: Uuid,
};

const Fixture = strict({
  ...about,
  content_type: nullable(Type.String()),
  bytes: count,
  records: count,
  encrypted: Type.Boolean({ description: "stored encrypted: the page was fetched with credentials" }),
});

const results = { lost: count, changed: count, new: count, same: count };

const FieldDiff = strict({
  field: Type.String(),
  result: oneOf(FIELD_RESULTS, { description: "of several records, the first of these that occurs" }),
  counts: strict(results, { description: "records by result" }),
  differences: Type.Array(strict({ record: count, before: Type.Unknown(), now: Type.Unknown() }), {
    description: "the first records that differ; long values are cut off",
  }),
});

const RulesTest = strict({
  passed: Type.Boolean({ description: "nothing was lost or changed, and no page fails" }),
  summary: strict({ pages: count, ...results, failed: count }, { description: "fields of all pages by result" }),
  pages: Type.Array(
    strict({
      ...about,
      records_before: count,
      records_now: count,
      error: nullable(Type.String({ description: "why the page fails by these rules, or could not be read" })),
      fields: Type.Array(FieldDiff),
    }),
  ),
});

const Rules = strict({
  fields: Type.Optional(Fields),
  items: Type.Optional(Items),
  schema: Type.Optional(RecordSchema),
});

/** Saved pages of a job, and tests of its rules on them. */
export function fixtureRoutes(api: ApiInstance, deps: ApiDeps): void {
  api.post(
    "/jobs/:job_id/test",
    {
      config: { role: "operator" },
      schema: {
        summary: "Test a job's rules on its saved pages; nothing is fetched or changed",
        operationId: "testJob",
        tags: ["jobs"],
        params: Params,
        body: Type.Union([Rules, Type.Null({ description: "no body: the job's rules" })]),
        response: {
          200: RulesTest,
          404: unknownJob,
          409: problemAnswer("the job has no saved pages: run it once"),
          422: problemAnswer("a rule is wrong, or the job has none"),
        },
      },
    },
    (request, reply) =>
      testRules(deps, request.params.job_id, (request.body ?? {}) as RulesInput, untilCallerLeaves(reply)),
  );

  api.get(
    "/jobs/:job_id/fixtures",
    {
      config: { role: "viewer" },
      schema: {
        summary: "Saved pages of a job, newest first",
        operationId: "listFixtures",
        tags: ["jobs"],
        params: Params,
        response: { 200: Type.Array(Fixture), 404: unknownJob },
      },
    },
    (request) => listFixtures(deps, request.params.job_id),
  );

  api.delete(
    "/jobs/:job_id/fixtures/:number",
    {
      config: { role: "operator", audit: "job.fixture_deleted" },
      schema: {
        summary: "Delete a saved page of a job",
        operationId: "deleteFixture",
        tags: ["jobs"],
        params: strict({ job_id: IdParam, number: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }) }),
        response: { 204: Type.Null(), 404: problemAnswer("there is no such job, or no such saved page") },
      },
    },
    async (request, reply) => {
      await deleteFixture(deps, request.params.job_id, request.params.number);
      return reply.code(204).send(null);
    },
  );
}
