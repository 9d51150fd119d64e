import type { Static } from "typebox";
import { RUN_KINDS, RUN_STATES, TERMINAL_RUN_STATES } from "../../../domain/run/states.ts";
import {
  countDeletable,
  deleteRun,
  deleteRuns,
  type DeletionFilter,
  type DeletionView,
  keepRun,
  listDeletions,
  showDeletion,
} from "../../../orchestrator/runs/delete.ts";
import { viewOf } from "../../../orchestrator/runs/read.ts";
import type { ApiDeps } from "../../deps.ts";
import type { ApiInstance } from "../../instance.ts";
import { Count, IdParam, nullable, oneOf, problemAnswer, strict, Time, Uuid } from "../../schemas.ts";
import { filterOf, RunChoice } from "./run-filters.ts";
import { Run } from "./run-schemas.ts";
import { RunParams, unknownRun } from "./runs.ts";
import { Type } from "../../type.ts";

const { status: _status, parent: _parent, ...choice } = RunChoice.properties;

const parts = {
  ...choice,
  status: Type.Optional(
    Type.Array(oneOf(TERMINAL_RUN_STATES), {
      minItems: 1,
      maxItems: TERMINAL_RUN_STATES.length,
      uniqueItems: true,
      description: "only runs with this final status; runs that have not ended are never deleted: cancel them first",
    }),
  ),
  tag: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: "only runs of jobs with this tag" })),
  ended_before: Type.Optional(Type.Unsafe<string>({ ...Time, description: "only runs that ended before" })),
};

const Filter = strict(parts, {
  description: "{}: all ended runs, except those marked to be kept. Child runs are deleted with their workflow",
});

const Shown = strict({
  ...parts,
  status: Type.Optional(Type.Array(oneOf(RUN_STATES))),
  kind: Type.Optional(oneOf(RUN_KINDS)),
});

const Deletion = strict({
  id: Uuid,
  status: oneOf(["running", "completed"]),
  filter: Shown,
  matched: { ...Count, description: "matching runs; 100000 means that many or more" },
  deleted: { ...Count, description: "runs deleted so far" },
  removing: {
    ...Count,
    description:
      "deleted runs whose data and files are still being removed, of all deletions; 10000 means that many or more",
  },
  created_at: Time,
  finished_at: nullable(Time),
});

export { Deletion };

function toFilter({ tag, ended_before, status, ...rest }: Static<typeof Filter>): DeletionFilter {
  return {
    ...filterOf(rest),
    ...(status === undefined ? {} : { status }),
    ...(tag === undefined ? {} : { tag }),
    ...(ended_before === undefined ? {} : { endedBefore: Date.parse(ended_before) }),
  };
}

export const shown = (view: DeletionView) => view as Static<typeof Deletion>;

export function runDeletionRoutes(api: ApiInstance, deps: ApiDeps): void {
  api.delete(
    "/jobs/runs/:run_id",
    {
      config: { role: "operator" },
      schema: {
        summary: "Delete a run with its results and files",
        operationId: "deleteRun",
        tags: ["runs"],
        params: RunParams,
        querystring: strict({
          force: Type.Boolean({ default: false, description: "cancel it first if it has not ended" }),
        }),
        response: {
          204: Type.Null(),
          404: unknownRun,
          409: problemAnswer("it has not ended, a step of a workflow started it, or it is the run of the queue"),
        },
      },
    },
    async (request, reply) => {
      await deleteRun(deps, request.params.run_id, { force: request.query.force });
      return reply.code(204).send(null);
    },
  );

  const keeping = (summary: string, operationId: string) => ({
    config: { role: "operator" } as const,
    schema: { summary, operationId, tags: ["runs"], params: RunParams, response: { 200: Run, 404: unknownRun } },
  });
  const keep = async (runId: string, kept: boolean) => viewOf(deps, await keepRun(deps, runId, kept));
  api.post(
    "/jobs/runs/:run_id/keep",
    keeping("Exempt a run from retention: it is kept until you delete it", "keepRun"),
    async (request) => keep(request.params.run_id, true),
  );
  api.delete(
    "/jobs/runs/:run_id/keep",
    keeping("Apply the retention rules to a run again", "unkeepRun"),
    async (request) => keep(request.params.run_id, false),
  );

  api.post(
    "/runs/deletions",
    {
      config: { role: "operator" },
      schema: {
        summary: "Delete many ended runs by a filter, in the background; with dry_run only count them",
        operationId: "deleteRuns",
        tags: ["runs"],
        body: strict({
          filter: Filter,
          dry_run: Type.Optional(Type.Boolean({ default: false, description: "only count them" })),
        }),
        response: { 200: strict({ matched: Count }), 202: Deletion },
      },
    },
    async ({ body: { filter, dry_run: dryRun = false } }, reply) => {
      if (dryRun) return { matched: await countDeletable(deps, toFilter(filter)) };
      const deletion = await deleteRuns(deps, toFilter(filter));
      return reply.code(202).header("location", `/runs/deletions/${deletion.id}`).send(shown(deletion));
    },
  );

  api.get(
    "/runs/deletions",
    {
      config: { role: "viewer" },
      schema: {
        summary: "The last 100 deletions of many runs, newest first",
        operationId: "listDeletions",
        tags: ["runs"],
        response: { 200: Type.Array(Deletion) },
      },
    },
    async () => (await listDeletions(deps)).map(shown),
  );

  api.get(
    "/runs/deletions/:deletion_id",
    {
      config: { role: "viewer" },
      schema: {
        summary: "The progress of a deletion",
        operationId: "getDeletion",
        tags: ["runs"],
        params: strict({ deletion_id: IdParam }),
        response: { 200: Deletion, 404: problemAnswer("there is no such deletion") },
      },
    },
    async (request) => shown(await showDeletion(deps, request.params.deletion_id)),
  );
}
