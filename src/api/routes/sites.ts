import type { Static } from "typebox";
import { changeSite, forgetLearned, listSites, resetSite, showSite } from "../../orchestrator/sites.ts";
import type { ApiDeps } from "../deps.ts";
import type { ApiInstance } from "../instance.ts";
import { Count, nullable, oneOf, problemAnswer, strict, Time } from "../schemas.ts";
import { Type } from "../type.ts";

const limits = {
  max_concurrency: nullable(Type.Integer({ minimum: 1, maximum: 10_000, description: "requests at the same time" })),
  requests_per_second: nullable(Type.Number({ minimum: 0.001, maximum: 100_000, description: "average rate" })),
  burst: nullable(
    Type.Integer({ minimum: 1, maximum: 100_000, description: "how many may follow each other at once" }),
  ),
  min_delay_ms: nullable(Type.Integer({ minimum: 0, maximum: 86_400_000, description: "pause between two requests" })),
};

const Site = strict({
  site: Type.String(),
  ...limits,
  crawl_delay_ms: nullable(
    Type.Integer({ minimum: 0, description: "pause between two requests that robots.txt asks for; the larger holds" }),
  ),
  paused: Type.Boolean(),
  held_until: nullable(Time),
  learned_strategy: nullable(
    strict({
      strategy: Type.String(),
      reason: Type.String(),
      scope: oneOf(["page", "site"]),
      pages: Count,
      expires_at: Time,
    }),
  ),
  breaker: strict({
    state: oneOf(["closed", "open", "half_open"]),
    failures: Count,
    reopens_at: nullable(Time),
  }),
});

/** null goes back to the configured default. */
const Settings = strict({ ...limits, paused: Type.Boolean() });
const Change = Type.Partial(Settings, { additionalProperties: false, minProperties: 1 });

const Params = strict({
  site: Type.String({ minLength: 1, maxLength: 300, description: "host, host:port or [ipv6]:port, percent-encoded" }),
});

const unknownSite = problemAnswer("no site of that name was seen");

function toLimits(change: Partial<Static<typeof Settings>>) {
  return {
    ...(change.max_concurrency === undefined ? {} : { maxConcurrency: change.max_concurrency }),
    ...(change.requests_per_second === undefined ? {} : { requestsPerSecond: change.requests_per_second }),
    ...(change.burst === undefined ? {} : { burst: change.burst }),
    ...(change.min_delay_ms === undefined ? {} : { minDelayMs: change.min_delay_ms }),
    ...(change.paused === undefined ? {} : { paused: change.paused }),
  };
}

/** The sites that were seen: their limits, which change while the work runs, and their health. */
export function siteRoutes(api: ApiInstance, deps: ApiDeps): void {
  api.get(
    "/sites",
    {
      schema: { summary: "Every site", operationId: "listSites", tags: ["sites"], response: { 200: Type.Array(Site) } },
    },
    () => listSites(deps),
  );

  api.get(
    "/sites/:site",
    {
      schema: {
        summary: "One site",
        operationId: "getSite",
        tags: ["sites"],
        params: Params,
        response: { 200: Site, 404: unknownSite },
      },
    },
    (request) => showSite(deps, request.params.site),
  );

  api.put(
    "/sites/:site",
    {
      schema: {
        summary: "Set all limits of a site, which need not have been seen yet; running work follows at once",
        operationId: "setSite",
        tags: ["sites"],
        params: Params,
        body: Settings,
        response: { 200: Site },
      },
    },
    (request) => changeSite(deps, request.params.site, toLimits(request.body)),
  );

  api.patch(
    "/sites/:site",
    {
      schema: {
        summary: "Change some limits of a site; null goes back to the configured default",
        operationId: "changeSite",
        tags: ["sites"],
        params: Params,
        body: Change,
        response: { 200: Site },
      },
    },
    (request) => changeSite(deps, request.params.site, toLimits(request.body)),
  );

  api.delete(
    "/sites/:site/learned-strategy",
    {
      schema: {
        summary: "Forget what a site was found to need; its next page is probed again",
        operationId: "forgetLearnedStrategy",
        tags: ["sites"],
        params: Params,
        response: { 200: Site, 404: unknownSite },
      },
    },
    (request) => forgetLearned(deps, request.params.site),
  );

  for (const [name, summary, work] of [
    ["pause", "Send nothing to a site until it is resumed", (site: string) => changeSite(deps, site, { paused: true })],
    ["resume", "Let a paused site go on", (site: string) => changeSite(deps, site, { paused: false })],
    [
      "reset-breaker",
      "Forget a site's failures and holds, and try it at once",
      (site: string) => resetSite(deps, site),
    ],
  ] as const) {
    api.post(
      `/sites/:site/${name}`,
      {
        schema: {
          summary,
          operationId: name === "reset-breaker" ? "resetBreaker" : `${name}Site`,
          tags: ["sites"],
          params: Params,
          response: { 200: Site, ...(name === "reset-breaker" ? { 404: unknownSite } : {}) },
        },
      },
      (request) => work(request.params.site),
    );
  }
}
