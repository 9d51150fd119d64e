import { showRobots } from "../../../orchestrator/sites/site-robots.ts";
import { showSite } from "../../../orchestrator/sites/sites.ts";
import type { ApiDeps } from "../../deps.ts";
import type { ApiInstance } from "../../instance.ts";
import { nullable, strict, Time } from "../../schemas.ts";
import { SiteSeries } from "../system/live-schemas.ts";
import { SiteParams, unknownSite } from "./sites.ts";
import { Type } from "../../type.ts";

const Robots = strict({
  site: Type.String(),
  user_agent: Type.String({ description: "the name by which its rules are chosen" }),
  origins: Type.Array(
    strict({
      origin: Type.String(),
      fetched_at: Time,
      text: Type.String({ description: "as it came; empty: there was none, which allows everything" }),
      crawl_delay_seconds: nullable(Type.Number({ minimum: 0 })),
      sitemaps: Type.Array(Type.String()),
      rules: Type.Array(Type.String(), { description: "those for us: the first that fits decides" }),
      allowed: nullable(Type.Boolean({ description: "whether the path asked about may be fetched; null: none was" })),
    }),
    { description: "of the copies that are kept; none: nobody has asked for it yet" },
  ),
});

const Series = Type.Record(Type.String(), SiteSeries, {
  description: "by site; those of which this process has counted nothing are not in it",
});

export function siteDetailRoutes(api: ApiInstance, deps: ApiDeps): void {
  api.get(
    "/sites/:site/robots",
    {
      schema: {
        summary: "The robots.txt of a site, as it is kept, and what it says to us; the site is not asked",
        operationId: "getSiteRobots",
        tags: ["sites"],
        params: SiteParams,
        querystring: strict({
          path: Type.Optional(
            Type.String({ minLength: 1, maxLength: 2000, pattern: "^/", description: "whether it may be fetched" }),
          ),
        }),
        response: { 200: Robots, 404: unknownSite },
      },
    },
    async (request) => {
      await showSite(deps, request.params.site);
      return showRobots(deps, request.params.site, request.query.path ?? null);
    },
  );

  api.get(
    "/sites/series",
    {
      schema: {
        summary:
          "Good and bad pages a second of the last hour at the busiest sites, as far as this process has counted",
        operationId: "getSiteSeries",
        tags: ["sites"],
        querystring: strict({
          site: Type.Optional(
            Type.String({
              minLength: 1,
              maxLength: 300,
              description: "only this one, by ten seconds instead of minutes",
            }),
          ),
        }),
        response: { 200: Series },
      },
    },
    async ({ query: { site } }) => Object.fromEntries(deps.live.siteSeries(site)),
  );
}
