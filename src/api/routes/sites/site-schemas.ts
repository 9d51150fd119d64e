/** Schemas of sites. */
import type { Static } from "typebox";
import { STRATEGIES } from "../../../domain/run/recipe.ts";
import { SITE_STATES } from "../../../domain/site/site-states.ts";
import { WAIT_REASONS } from "../../../domain/run/waiting.ts";
import { Count, nullable, oneOf, strict, Time } from "../../schemas.ts";
import { Type } from "../../type.ts";
import { LastFailure, waitingParts } from "../runs/run-schemas.ts";
import { Version } from "../../versions.ts";

/** Shared by the sites of a group, which are one server. */
const ofServer = {
  max_concurrency: nullable(Type.Integer({ minimum: 1, maximum: 10_000, description: "maximum concurrent requests" })),
  requests_per_second: nullable(Type.Number({ minimum: 0.001, maximum: 100_000, description: "average rate" })),
  burst: nullable(
    Type.Integer({
      minimum: 1,
      maximum: 100_000,
      description: "requests that may be sent at once before the rate applies",
    }),
  ),
  min_delay_ms: nullable(
    Type.Integer({ minimum: 0, maximum: 86_400_000, description: "minimum delay between two requests" }),
  ),
};

const ofSite = {
  max_memory_mb: nullable(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      description: "memory limit for all open browser pages of the site",
    }),
  ),
  strategy: nullable(oneOf(STRATEGIES, { description: "how pages are fetched in runs with the strategy auto" })),
  respect_robots: nullable(Type.Boolean({ description: "whether robots.txt is obeyed; overrides the run" })),
};

const Group = nullable(
  Type.String({
    pattern: "^[A-Za-z0-9_.-]{1,100}$",
    description:
      "sites of a group count as one server: they share limits, delays and the circuit breaker; null: no group",
  }),
);

const Shards = Type.Integer({
  minimum: 1,
  maximum: 64,
  description:
    "number of lanes the site is split into, so that several processes can work on it; at most max_concurrency",
});

const SiteText = Type.String({ minLength: 1, maxLength: 300 });

const Settings = strict({
  ...ofServer,
  ...ofSite,
  shards: nullable(Shards),
  group: Group,
  depends_on: Type.Array(SiteText, {
    maxItems: 100,
    uniqueItems: true,
    description: "sites whose work must finish before work on this site starts; cycles are rejected",
  }),
  paused: Type.Boolean(),
});

/** Changes the given keys; null restores the configured default. */
export const SiteChange = Type.Partial(strict({ ...Settings.properties, version: Version }), {
  additionalProperties: false,
  minProperties: 1,
});

export function limitsFrom(change: Static<typeof SiteChange>) {
  return {
    ...(change.max_concurrency === undefined ? {} : { maxConcurrency: change.max_concurrency }),
    ...(change.requests_per_second === undefined ? {} : { requestsPerSecond: change.requests_per_second }),
    ...(change.burst === undefined ? {} : { burst: change.burst }),
    ...(change.min_delay_ms === undefined ? {} : { minDelayMs: change.min_delay_ms }),
    ...(change.max_memory_mb === undefined ? {} : { maxMemoryMb: change.max_memory_mb }),
    ...(change.strategy === undefined ? {} : { strategy: change.strategy }),
    ...(change.respect_robots === undefined ? {} : { respectRobots: change.respect_robots }),
    ...(change.shards === undefined ? {} : { shards: change.shards }),
    ...(change.group === undefined ? {} : { group: change.group }),
    ...(change.depends_on === undefined ? {} : { dependsOn: change.depends_on }),
    ...(change.paused === undefined ? {} : { paused: change.paused }),
  };
}

const Rate = Type.Number({ minimum: 0, description: "successful pages in the last one to two minutes" });
const ErrorRate = nullable(
  Type.Number({
    minimum: 0,
    maximum: 1,
    description: "share of failed requests in the last ten minutes, retries included; null: none ended",
  }),
);

const counts = {
  queued: Count,
  running: { ...Count, description: "in flight, within the limits of the site" },
  retrying: { ...Count, description: "failed, with a retry scheduled" },
  completed: Count,
  failed: Count,
};

export const SiteProgress = strict({
  site: Type.String(),
  group: Group,
  state: oneOf([...SITE_STATES, "idle"], {
    description: "paused by an operator; blocked: its circuit is open; idle: no open work",
  }),
  counts: strict(counts, { description: "pages of all stored runs" }),
  pages_per_second: Rate,
  error_rate: ErrorRate,
  waiting_for: nullable(
    strict(
      { reason: oneOf(WAIT_REASONS), ...waitingParts },
      { description: "why its work waits; null: it does not wait, or there is none" },
    ),
  ),
  last_failure: LastFailure,
});

export const SitesProgress = strict({
  totals: strict({
    ...counts,
    sites: { ...Count, description: "all known sites" },
    active_sites: Count,
    waiting_sites: Count,
    paused_sites: Count,
    blocked_sites: Count,
    pages_per_second: Rate,
    error_rate: ErrorRate,
  }),
  sites: Type.Array(SiteProgress, { description: "up to 50 sites with open work, the busiest first" }),
});

export const Site = strict({
  ...SiteProgress.properties,
  ...ofServer,
  ...ofSite,
  shards: Shards,
  depends_on: Type.Array(Type.String()),
  paused: Type.Boolean(),
  version: Version,
  effective: strict(
    {
      max_concurrency: Count,
      requests_per_second: nullable(Type.Number({ description: "null: no limit" })),
      burst: nullable(Count),
      min_delay_ms: Count,
      shards: { ...Count, description: "fewer than requested if the limits do not allow more" },
      strategy: oneOf(STRATEGIES),
      respect_robots: Type.Boolean(),
    },
    { description: "the effective limits, with configured defaults and the crawl-delay of robots.txt" },
  ),
  crawl_delay_ms: nullable(
    Type.Integer({ minimum: 0, description: "crawl-delay of robots.txt; the larger delay applies" }),
  ),
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
  latency_ms: strict(
    { p50: nullable(Type.Number()), p95: nullable(Type.Number()) },
    { description: "of successful responses in the last ten minutes; null: none measured" },
  ),
  first_seen_at: nullable(Time),
  last_success_at: nullable(Time),
  held_until: nullable(Time),
  next_fetch_at: nullable({
    ...Time,
    description: "no requests are sent before this time; null: no wait, or no fixed time",
  }),
});
