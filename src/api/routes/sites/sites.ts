import { SITE_STATES } from "../../../domain/site/site-states.ts";
import {
  type SitesProgress as Progress,
  sitesProgress,
  SitesWatch,
} from "../../../orchestrator/sites/sites-progress.ts";
import { changeSite, forgetLearned, listSites, resetSite, showSite } from "../../../orchestrator/sites/sites.ts";
import type { ApiDeps } from "../../deps.ts";
import type { ApiInstance } from "../../instance.ts";
import { decodeCursor, LINK_HEADER, pageQuery, sendPage } from "../../paging.ts";
import { oneOf, problemAnswer, strict } from "../../schemas.ts";
import { expectedVersion, VersionHeaders } from "../../versions.ts";
import { sendEvents, type SseEvent, streamAnswer, streamQuery } from "../../sse.ts";
import { limitsFrom, Site, SiteChange, SitesProgress } from "./site-schemas.ts";
import { Type } from "../../type.ts";

export const SiteParams = strict({
  site: Type.String({ minLength: 1, maxLength: 300, description: "host, host:port or [ipv6]:port, percent-encoded" }),
});

export const unknownSite = problemAnswer("there is no such site");

/** Each event carries the whole state: a client that reconnects has missed nothing. */
async function* asSse(changes: AsyncIterable<Progress>): AsyncGenerator<SseEvent> {
  let count = 0;
  for await (const data of changes) yield { id: String((count += 1)), event: "sites_progress", data };
}

/** Known sites: their live limits and their health. */
export function siteRoutes(api: ApiInstance, deps: ApiDeps): void {
  const watch = new SitesWatch(deps);
  api.get(
    "/sites",
    {
      config: { role: "viewer" },
      schema: {
        summary: "Sites by name",
        operationId: "listSites",
        tags: ["sites"],
        querystring: pageQuery({
          q: Type.Optional(Type.String({ minLength: 1, maxLength: 300, description: "part of the name" })),
          state: Type.Optional(oneOf(SITE_STATES, { description: "only sites that are in this state now" })),
          group: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: "only sites of this group" })),
        }),
        response: { 200: { ...Type.Array(Site), headers: LINK_HEADER } },
      },
    },
    async (request, reply) => {
      const { limit, cursor, ...filter } = request.query;
      const after = decodeCursor(cursor);
      const rows = await listSites(deps, { ...filter, ...(after === undefined ? {} : { after }), limit: limit + 1 });
      return sendPage(request, reply, { rows, limit, positionOf: ({ site }) => site });
    },
  );

  api.get(
    "/sites/progress",
    {
      config: { role: "viewer" },
      schema: {
        summary: "The progress of all sites together, and of each site with open work",
        operationId: "getSitesProgress",
        tags: ["sites"],
        response: { 200: SitesProgress },
      },
    },
    () => sitesProgress(deps),
  );

  api.get(
    "/sites/progress/stream",
    {
      config: { role: "viewer" },
      schema: {
        summary: "The same as a stream: immediately, then on changes, at most once a second",
        operationId: "streamSitesProgress",
        tags: ["sites"],
        querystring: strict(streamQuery),
        response: { 200: streamAnswer("events named sites_progress, each with all of GET /sites/progress") },
      },
    },
    (request, reply) => sendEvents(request, reply, deps, ({ signal }) => asSse(watch.follow(signal))),
  );

  api.get(
    "/sites/:site",
    {
      config: { role: "viewer" },
      schema: {
        summary: "One site",
        operationId: "getSite",
        tags: ["sites"],
        params: SiteParams,
        response: { 200: Site, 404: unknownSite },
      },
    },
    (request) => showSite(deps, request.params.site),
  );

  for (const [method, operationId] of [
    ["put", "setSite"],
    ["patch", "changeSite"],
  ] as const) {
    api[method](
      "/sites/:site",
      {
        config: { role: "admin" },
        schema: {
          summary:
            "Change the settings of a site, known or not; only the given keys change. Applies to running work within a second",
          operationId,
          tags: ["sites"],
          params: SiteParams,
          headers: VersionHeaders,
          body: SiteChange,
          response: { 200: Site, 409: problemAnswer("the settings have changed since that version") },
        },
      },
      (request) =>
        changeSite(deps, request.params.site, limitsFrom(request.body), expectedVersion(request, request.body.version)),
    );
  }

  api.delete(
    "/sites/:site/learned-strategy",
    {
      config: { role: "operator", audit: "site.strategy_forgotten" },
      schema: {
        summary: "Reset the learned strategy of a site; its next page is probed again",
        operationId: "forgetLearnedStrategy",
        tags: ["sites"],
        params: SiteParams,
        response: { 200: Site, 404: unknownSite },
      },
    },
    (request) => forgetLearned(deps, request.params.site),
  );

  for (const [name, summary, work] of [
    [
      "pause",
      "Pause a site: no requests are sent until it is resumed",
      (site: string) => changeSite(deps, site, { paused: true }),
    ],
    ["resume", "Resume a paused site", (site: string) => changeSite(deps, site, { paused: false })],
    [
      "reset-breaker",
      "Reset the circuit breaker and rate limit waits of a site, and continue at once",
      (site: string) => resetSite(deps, site),
    ],
  ] as const) {
    api.post(
      `/sites/:site/${name}`,
      {
        config: { role: "operator", ...(name === "reset-breaker" ? { audit: "site.breaker_reset" } : {}) },
        schema: {
          summary,
          operationId: name === "reset-breaker" ? "resetBreaker" : `${name}Site`,
          tags: ["sites"],
          params: SiteParams,
          response: { 200: Site, ...(name === "reset-breaker" ? { 404: unknownSite } : {}) },
        },
      },
      (request) => work(request.params.site),
    );
  }
}
