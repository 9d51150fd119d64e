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
      description: "number of the lane among those of the list entries; null: the lane of the step itself",
    }),
  },
  { description: "the step that owns the lane; null: not the lane of a step" },
);

const Lane = strict({
  lane: Type.String({ description: "site:…, group:… or step.…" }),
  step: nullable(LaneStep),
  sites: Type.Array(Type.String(), { description: "up to 5 sites with open work in the lane; empty for a step" }),
  counts: strict({ queued: Count, running: Count, retrying: Count }),
  runs: { ...Count, description: "number of runs with open work in the lane" },
  state: SiteProgress.properties.state,
  waiting_for: nullable(
    strict(
      { reason: oneOf([...WAIT_REASONS, ...STEP_WAIT_REASONS]), ...waitingParts },
      { description: "null: it does not wait" },
    ),
  ),
  owned: Type.Boolean({ description: "true: a worker owns the lane, and no other works on it" }),
  worker_id: nullable({ ...Uuid, description: "the owner, if it is registered" }),
  oldest_queued_at: nullable({ ...Time, description: "when its longest waiting task was added" }),
});

/** Lanes with open work, and their owners. */
export function laneRoutes(api: ApiInstance, deps: ApiDeps): void {
  api.get(
    "/queue/lanes",
    {
      config: { role: "viewer" },
      schema: {
        summary: "Lanes with open work, by name: their owner, their queued tasks, and why they wait",
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
