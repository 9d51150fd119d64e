import { ALERT_KINDS } from "../../../domain/run/alerts.ts";
import { listAlerts, testAlerts } from "../../../orchestrator/alerts.ts";
import type { ApiDeps } from "../../deps.ts";
import type { ApiInstance } from "../../instance.ts";
import { cursorFilter, LINK_HEADER, pageQuery, sendPage } from "../../paging.ts";
import { Count, nullable, oneOf, problemAnswer, strict, Time, Uuid } from "../../schemas.ts";
import { Type } from "../../type.ts";

const Alert = strict({
  id: Uuid,
  kind: oneOf(ALERT_KINDS),
  subject: Type.String({ description: "subject: a site, or the id of a run or worker" }),
  message: Type.String(),
  detail: Type.Unknown({ description: "depends on the kind; see docs/monitoring.md" }),
  created_at: Time,
  delivery: oneOf(["waiting", "delivered", "given_up", "off"], { description: "off: no receiver is configured" }),
  tries: Count,
  next_try_at: nullable(Time),
  last_error: nullable(Type.String()),
  delivered_at: nullable(Time),
});

/** Alerts, sent or pending. */
export function alertRoutes(api: ApiInstance, deps: ApiDeps): void {
  api.get(
    "/alerts",
    {
      config: { role: "viewer" },
      schema: {
        summary: "Alerts, newest first",
        operationId: "listAlerts",
        tags: ["server"],
        querystring: pageQuery({ kind: Type.Optional(oneOf(ALERT_KINDS)) }),
        response: { 200: { ...Type.Array(Alert), headers: LINK_HEADER } },
      },
    },
    async (request, reply) => {
      const { limit, kind } = request.query;
      const rows = await listAlerts(deps, {
        ...(kind === undefined ? {} : { kind }),
        ...cursorFilter(request.query),
        limit: limit + 1,
      });
      return sendPage(request, reply, { rows, limit, positionOf: ({ id }) => id });
    },
  );

  api.post(
    "/alerts/test",
    {
      config: { role: "admin", audit: "alert.tested" },
      schema: {
        summary: "Send a test alert",
        operationId: "testAlerts",
        tags: ["server"],
        response: {
          200: { ...Alert, description: "the alert; delivery says whether the receiver accepted it" },
          409: problemAnswer("no receiver is configured"),
        },
      },
    },
    () => testAlerts(deps),
  );
}
