import { BULK_ACTIONS, changeRuns, MOST_AT_ONCE, MOST_COUNTED } from "../../../orchestrator/runs/bulk.ts";
import type { ApiDeps } from "../../deps.ts";
import type { ApiInstance } from "../../instance.ts";
import { Count, oneOf, strict, Uuid } from "../../schemas.ts";
import { filterOf, RunChoice } from "./run-filters.ts";
import { Type } from "../../type.ts";

const Bulk = strict({
  action: oneOf(BULK_ACTIONS, { description: "retry-failed also recovers workflows" }),
  filter: { ...RunChoice, description: "the same filter as GET /runs; {}: all runs whose state allows the action" },
  from: Type.Optional(
    Type.Unsafe<string>({
      ...Uuid,
      description:
        "`next` of an earlier response: limits the call to that run and older ones. After a dry run, this excludes runs created since; after an incomplete call, it continues with the remaining runs",
    }),
  ),
  dry_run: Type.Optional(Type.Boolean({ default: false, description: "only count them" })),
});

const Outcome = strict({
  matched: {
    ...Count,
    description: `runs that match the filter and whose state allows the action; ${MOST_COUNTED} means that many or more`,
  },
  done: Count,
  failed_count: Count,
  failed: Type.Array(strict({ run_id: Uuid, code: Type.String(), detail: Type.String() }), {
    description: "the first 100 that could not be changed",
  }),
  remaining: { ...Count, description: `remaining for the next call; one call changes at most ${MOST_AT_ONCE}` },
  next: Type.Union([Uuid, Type.Null()], {
    description: "`from` of the next call (after dry_run: of the first call); null: nothing remains",
  }),
});

export function bulkRoutes(api: ApiInstance, deps: ApiDeps): void {
  api.post(
    "/runs/bulk",
    {
      config: { role: "operator" },
      schema: {
        summary: "Cancel, pause, resume or retry many runs by a filter; with dry_run only count them",
        operationId: "changeRuns",
        tags: ["runs"],
        body: Bulk,
        response: { 200: Outcome },
      },
    },
    ({ body: { action, filter, from, dry_run: dryRun = false } }) => {
      const { status } = filter;
      const wanted = {
        ...filterOf(filter),
        ...(status === undefined ? {} : { status }),
        ...(from === undefined ? {} : { from: from.toLowerCase() }),
      };
      return changeRuns(deps, action, wanted, { dryRun });
    },
  );
}
