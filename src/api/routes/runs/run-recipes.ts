import type { Static } from "typebox";
import type { JobInput } from "../../../orchestrator/jobs/input.ts";
import { showRecipe, startPage } from "../../../orchestrator/runs/recipe.ts";
import type { ApiDeps } from "../../deps.ts";
import { IdempotencyHeaders, idempotencyMarkOf } from "../../idempotency.ts";
import type { ApiInstance } from "../../instance.ts";
import { problemAnswer, strict } from "../../schemas.ts";
import { jobRules } from "../body-rules.ts";
import { JobBody, PageBody } from "../jobs/job-schemas.ts";
import { Run } from "./run-schemas.ts";
import { RunParams } from "./runs.ts";
import { Type } from "../../type.ts";

const names = (description: string) => Type.Array(Type.String(), { description });

const RunRecipe = strict({
  recipe: Type.Unsafe<Static<typeof JobBody>>({
    ...JobBody,
    description: "a body for POST /jobs, without secrets",
  }),
  header_names: names("names of the headers it sent; values are not shown"),
  cookie_names: names("names of the cookies it sent; values are not shown"),
});

/** One-off page runs, and the request of a run for repeating it. */
export function runRecipeRoutes(api: ApiInstance, deps: ApiDeps): void {
  api.post(
    "/runs",
    {
      config: { role: "operator", limited: true, rules: jobRules(deps) },
      schema: {
        summary: "Fetch one page now, without a job",
        operationId: "startPage",
        tags: ["runs"],
        headers: IdempotencyHeaders,
        body: PageBody,
        response: { 201: Run, 422: problemAnswer("a field is invalid, or the target is not allowed") },
      },
    },
    async (request, reply) => {
      const run = await startPage(deps, request.body as JobInput, idempotencyMarkOf(deps, request));
      return reply.code(201).header("location", `/jobs/runs/${run.id}`).send(run);
    },
  );

  api.get(
    "/jobs/runs/:run_id/recipe",
    {
      config: { role: "viewer" },
      schema: {
        summary: "The settings of a run, as a body for a new job",
        operationId: "getRunRecipe",
        tags: ["runs"],
        params: RunParams,
        response: { 200: RunRecipe, 404: problemAnswer("there is no such run, or its kind has no settings") },
      },
    },
    async (request) => (await showRecipe(deps, request.params.run_id)) as Static<typeof RunRecipe>,
  );
}
