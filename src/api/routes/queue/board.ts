import { BOARD_PATH, openBoard } from "../../../orchestrator/board.ts";
import type { ApiDeps } from "../../deps.ts";
import type { ApiInstance } from "../../instance.ts";

/** The engine's own pages, which show its tickets. Read-only: other methods are not routed. */
export function boardRoutes(api: ApiInstance, deps: ApiDeps): void {
  for (const url of [BOARD_PATH, `${BOARD_PATH}/*`])
    api.get(url, { config: { role: "viewer", page: "based" }, schema: { hide: true } }, async (request, reply) => {
      const { "*": rest = "" } = request.params as { "*"?: string };
      const { status, type, body } = await openBoard(deps, `/${rest}`, request.query as Record<string, unknown>);
      return reply.code(status).type(type).send(body);
    });
}
