import { BULK_ACTIONS, changeRuns, MOST_AT_ONCE, MOST_COUNTED } from "../../../orchestrator/runs/bulk.ts";
import type { ApiDeps } from "../../deps.ts";
import type { ApiInstance } from "../../instance.ts";
import { Count, oneOf, strict, Uuid } from "../../schemas.ts";
import { filterOf, RunChoice } from "./run-filters.ts";
import { Type } from "../../type.ts";

const Bulk = strict({
  action: oneOf(BULK_ACTIONS, { description: "retry-failed recovers workflows" }),
  filter: { ...RunChoice, description: "as of GET /runs; {}: all runs to which it can be done" },
  from: Type.Optional(
    Type.Unsafe<string>({
      ...Uuid,
      description:
        "next of an answer: only that run and older ones. After dry_run it leaves out what has begun since then; after a call that left some it goes on with those",
    }),
  ),
  dry_run: Type.Optional(Type.Boolean({ default: false, description: "only count them" })),
});

const Outcome = strict({
  matched: {
    ...Count,
    description: `runs that fit the filter and to which it can be done; ${MOST_COUNTED}: that many or more`,
  },
  done: Count,
  failed_count: Count,
  failed: Type.Array(strict({ run_id: Uuid, code: Type.String(), detail: Type.String() }), {
    description: "the first 100 that could not be changed",
  }),
  remaining: { ...Count, description: `left for the next call: one changes ${MOST_AT_ONCE} at most` },
  next: Type.Union([Uuid, Type.Null()], {
    description: "from of the next call; of dry_run: from of the first; null: nothing is left",
  }),
});

export function bulkRoutes(api: ApiInstance, deps: ApiDeps): void {
  api.post(
    "/runs/bulk",
    {
      schema: {
        summary: "Cancel, pause, resume or try again many runs by a filter; dry_run counts them first",
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
