import { REPAIR_STATES } from "../../../domain/health/repair.ts";
import { ON_DEGRADED } from "../../../domain/health/on-degraded.ts";
import { VALUE_CLASSES } from "../../../domain/health/value-class.ts";
import { acceptJobHealth, showJobHealth } from "../../../orchestrator/jobs/health.ts";
import type { ApiDeps } from "../../deps.ts";
import type { ApiInstance } from "../../instance.ts";
import { Count, IdParam, nullable, oneOf, problemAnswer, strict, Time, Uuid } from "../../schemas.ts";
import { Type } from "../../type.ts";
import { Degraded } from "../runs/run-schemas.ts";

const Params = strict({ job_id: IdParam });
const Query = strict({
  runs: Type.Integer({ minimum: 1, maximum: 100, default: 20, description: "how many runs, newest first" }),
  field: Type.Optional(Type.String({ minLength: 1, maxLength: 1000, description: "only this field, with examples" })),
});
const unknownJob = problemAnswer("there is no such job");
const share = (description: string) => Type.Number({ minimum: 0, maximum: 1, description });
const number = (description?: string) => nullable(Type.Number(description === undefined ? {} : { description }));

const figures = {
  coverage: share("records with a value"),
  distinct: nullable(share("distinct values among the filled ones")),
  class: nullable(oneOf(VALUE_CLASSES, { description: "what most values look like" })),
  class_share: nullable(share("values that look so")),
  length: number("median length: characters of texts, entries of lists"),
  digits: nullable(share("digits among the characters")),
  min: number("of numbers and prices, as the next two are"),
  median: number(),
  max: number(),
};

const JobHealth = strict({
  job_id: Uuid,
  on_degraded: oneOf(ON_DEGRADED),
  baseline: strict(
    { runs: Count, needed: Count },
    { description: "how many runs the next one is compared with; below needed, nothing is compared" },
  ),
  repair: nullable(oneOf(REPAIR_STATES, { description: "state of the newest repair proposal; null: there is none" })),
  runs: Type.Array(
    strict({
      run_id: Uuid,
      ended_at: Time,
      records: Count,
      pages: { ...Count, description: "pages that gave records" },
      records_per_page: number(),
      compared_with: { ...Count, description: "how many earlier runs it was compared with" },
      degraded: Degraded,
      in_baseline: Type.Boolean({ description: "later runs are compared with it" }),
      accepted_at: nullable({ ...Time, description: "when somebody accepted it although it is degraded" }),
    }),
    { description: "newest first" },
  ),
  fields: Type.Array(
    strict({
      name: Type.String(),
      hint: nullable(
        oneOf(["never_filled"], { description: "no record of the newest run has it, and no run of the baseline" }),
      ),
      baseline: nullable(
        strict(
          { coverage: figures.coverage, distinct: figures.distinct, length: figures.length, median: figures.median },
          { description: "medians of the runs that the next one is compared with; null: too few" },
        ),
      ),
      values: Type.Array(
        strict({
          run_id: Uuid,
          verdict: oneOf(["good", "degraded", "unknown"], { description: "unknown: too few runs before it" }),
          ...figures,
          examples: Type.Array(
            strict({
              url: nullable(Type.String({ description: "of the page" })),
              value: nullable(Type.String({ description: "cut; null: the field is empty there" })),
            }),
            { description: "records with and without a value; only with the parameter field" },
          ),
        }),
        { description: "by run, in the order of runs" },
      ),
    }),
  ),
});

export function jobHealthRoutes(api: ApiInstance, deps: ApiDeps): void {
  api.get(
    "/jobs/:job_id/health",
    {
      config: { role: "viewer" },
      schema: {
        summary: "Data quality of a job: each field of its runs, compared with earlier runs",
        operationId: "getJobHealth",
        tags: ["jobs"],
        params: Params,
        querystring: Query,
        response: { 200: JobHealth, 404: unknownJob },
      },
    },
    (request) => showJobHealth(deps, request.params.job_id, request.query),
  );

  api.post(
    "/jobs/:job_id/health/accept",
    {
      config: { role: "operator", audit: "job.health_accepted" },
      schema: {
        summary: "Accept degraded runs: later runs are compared only with them",
        operationId: "acceptJobHealth",
        tags: ["jobs"],
        params: Params,
        querystring: Query,
        response: { 200: JobHealth, 404: unknownJob },
      },
    },
    (request) => acceptJobHealth(deps, request.params.job_id, request.query),
  );
}
