import { nullable, oneOf, strict } from "../../api/schemas.ts";
import { Type } from "../../api/type.ts";
import type { Site as SiteView } from "../../api-client/client.ts";
import { SITE_STATES } from "../../domain/site/site-states.ts";
import { Cursor, NextShape, Text, Total } from "../shapes.ts";
import { defineTool } from "../tool.ts";
import { untilWords } from "../words.ts";

const LISTED = 20;

const Site = strict({
  site: Type.String(),
  state: Type.String(),
  waiting: nullable(Type.String({ description: "why no requests are sent now, and until when" })),
  next_fetch_at: nullable(Type.String({ description: "no requests are sent before this time" })),
  error_rate: nullable(Type.Number({ description: "of the last ten minutes, 0 to 1" })),
  pages: strict({ queued: Total, running: Total, retrying: Total, completed: Total, failed: Total }),
  limits: strict({
    max_concurrency: Total,
    requests_per_second: nullable(Type.Number()),
    min_delay_ms: Total,
    respect_robots: Type.Boolean(),
  }),
  needs: nullable(Type.String({ description: "learned strategy for its pages" })),
  last_success_at: Text,
});

export const sites = defineTool({
  name: "sites",
  title: "Site status",
  description:
    "Known sites: whether they answer, why and until when they wait, and their limits. Only the operator can change limits.",
  input: strict({
    site: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 300,
        description: "one site: host, or host:port if the port is not 80 or 443",
      }),
    ),
    q: Type.Optional(Type.String({ minLength: 1, maxLength: 300, description: "part of the name" })),
    state: Type.Optional(oneOf(SITE_STATES, { description: "only sites in this state" })),
    cursor: Cursor,
  }),
  output: strict({ sites: Type.Array(Site), next: NextShape }),
  role: "viewer",
  hints: { reads: true, repeatable: true },
  call: async ({ site, q, state, cursor }, { api }) => {
    if (site !== undefined) return { sites: [viewOf(await api.sites.get(site))], next: null };
    const { rows, next: more } = await api.sites.list({ q, state, cursor, limit: LISTED }).page();
    const filter = { ...(q === undefined ? {} : { q }), ...(state === undefined ? {} : { state }) };
    return {
      sites: rows.map(viewOf),
      next: more === null ? null : { tool: "sites", arguments: { ...filter, cursor: more }, why: "more sites" },
    };
  },
});

function viewOf(view: SiteView) {
  const { counts, effective, waiting_for: waiting, learned_strategy: learned } = view;
  return {
    site: view.site,
    state: view.state,
    waiting: waiting === null ? null : untilWords(waiting),
    next_fetch_at: view.next_fetch_at,
    error_rate: view.error_rate,
    pages: {
      queued: counts.queued,
      running: counts.running,
      retrying: counts.retrying,
      completed: counts.completed,
      failed: counts.failed,
    },
    limits: {
      max_concurrency: effective.max_concurrency,
      requests_per_second: effective.requests_per_second,
      min_delay_ms: effective.min_delay_ms,
      respect_robots: effective.respect_robots,
    },
    needs: learned === null ? null : `${learned.strategy}, because ${learned.reason}`,
    last_success_at: view.last_success_at,
  };
}
