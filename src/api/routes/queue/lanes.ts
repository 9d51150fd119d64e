import { WAIT_REASONS } from "../../../domain/run/waiting.ts";
import { listLanes, STEP_WAIT_REASONS } from "../../../orchestrator/queue/lanes.ts";
import type { ApiDeps } from "../../deps.ts";
import type { ApiInstance } from "../../instance.ts";
import { decodeCursor, LINK_HEADER, pageQuery, sendPage } from "../../paging.ts";
import { Count, nullable, oneOf, strict, Time, Uuid } from "../../schemas.ts";
import { waitingParts } from "../runs/run-schemas.ts";
import { SiteProgress } from "../sites/site-schemas.ts";
import { Type } from "../../type.ts";

const LaneStep = strict(
  {
    workflow_id: Uuid,
    workflow_name: nullable(Type.String()),
    step_name: Type.String(),
    step_index: Count,
    place: nullable({
      ...Count,
      description: "of those that the entries of its list take turns in; null: the step itself",
    }),
  },
  { description: "whose lane it is; null: no step's" },
);

const Lane = strict({
  lane: Type.String({ description: "site:…, group:… or step.…" }),
  step: nullable(LaneStep),
  sites: Type.Array(Type.String(), { description: "up to 5 that have open work there; none: a step of a workflow" }),
  counts: strict({ queued: Count, running: Count, retrying: Count }),
  runs: { ...Count, description: "that have open work there" },
  state: SiteProgress.properties.state,
  waiting_for: nullable(
    strict(
      { reason: oneOf([...WAIT_REASONS, ...STEP_WAIT_REASONS]), ...waitingParts },
      { description: "null: nothing keeps it" },
    ),
  ),
  owned: Type.Boolean({ description: "some process has it in hand: no other works there" }),
  worker_id: nullable({ ...Uuid, description: "the worker, if it has reported itself" }),
  oldest_queued_at: nullable({ ...Time, description: "when the task was added that has waited longest" }),
});

/** Lanes with open work, and their owners. */
export function laneRoutes(api: ApiInstance, deps: ApiDeps): void {
  api.get(
    "/queue/lanes",
    {
      schema: {
        summary: "Lanes with open work, by name: who has them in hand, what waits there and why",
        operationId: "listLanes",
        tags: ["queue"],
        querystring: pageQuery({}),
        response: { 200: { ...Type.Array(Lane), headers: LINK_HEADER } },
      },
    },
    async (request, reply) => {
      const { limit, cursor } = request.query;
      const after = decodeCursor(cursor);
      const rows = await listLanes(deps, { ...(after === undefined ? {} : { after }), limit: limit + 1 });
      return sendPage(request, reply, { rows, limit, positionOf: ({ lane }) => lane });
    },
  );
}
