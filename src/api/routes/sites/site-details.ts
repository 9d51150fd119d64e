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
  user_agent: Type.String({ description: "the user agent whose rules apply" }),
  origins: Type.Array(
    strict({
      origin: Type.String(),
      fetched_at: Time,
      text: Type.String({ description: "the original text; empty: there is none, so everything is allowed" }),
      crawl_delay_seconds: nullable(Type.Number({ minimum: 0 })),
      sitemaps: Type.Array(Type.String()),
      rules: Type.Array(Type.String(), { description: "the rules that apply to us: the first match decides" }),
      allowed: nullable(Type.Boolean({ description: "whether `path` may be fetched; null: no path was given" })),
    }),
    { description: "the stored copies; empty: not fetched yet" },
  ),
});

const Series = Type.Record(Type.String(), SiteSeries, {
  description: "by site; sites without counts in this process are omitted",
});

export function siteDetailRoutes(api: ApiInstance, deps: ApiDeps): void {
  api.get(
    "/sites/:site/robots",
    {
      config: { role: "viewer" },
      schema: {
        summary: "The stored robots.txt of a site and the rules that apply to us; nothing is fetched",
        operationId: "getSiteRobots",
        tags: ["sites"],
        params: SiteParams,
        querystring: strict({
          path: Type.Optional(
            Type.String({ minLength: 1, maxLength: 2000, pattern: "^/", description: "path to check" }),
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
      config: { role: "viewer" },
      schema: {
        summary:
          "Successful and failed pages per second at the busiest sites in the last hour, as counted by this process",
        operationId: "getSiteSeries",
        tags: ["sites"],
        querystring: strict({
          site: Type.Optional(
            Type.String({
              minLength: 1,
              maxLength: 300,
              description: "only this site, in steps of ten seconds instead of one minute",
            }),
          ),
        }),
        response: { 200: Series },
      },
    },
    async ({ query: { site } }) => Object.fromEntries(deps.live.siteSeries(site)),
  );
}
