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
  max_concurrency: nullable(Type.Integer({ minimum: 1, maximum: 10_000, description: "requests at the same time" })),
  requests_per_second: nullable(Type.Number({ minimum: 0.001, maximum: 100_000, description: "average rate" })),
  burst: nullable(
    Type.Integer({ minimum: 1, maximum: 100_000, description: "how many may follow each other at once" }),
  ),
  min_delay_ms: nullable(Type.Integer({ minimum: 0, maximum: 86_400_000, description: "pause between two requests" })),
};

const ofSite = {
  max_memory_mb: nullable(
    Type.Integer({ minimum: 1, maximum: 1_000_000, description: "what its open browser pages may take together" }),
  ),
  strategy: nullable(oneOf(STRATEGIES, { description: "how pages are fetched in runs with the strategy auto" })),
  respect_robots: nullable(Type.Boolean({ description: "whether robots.txt is obeyed, whatever a run says" })),
};

const Group = nullable(
  Type.String({
    pattern: "^[A-Za-z0-9_.-]{1,100}$",
    description: "sites of one group are one server: they share their limits, pauses and breaker; null: none",
  }),
);

const Shards = Type.Integer({
  minimum: 1,
  maximum: 64,
  description:
    "parts that its work is divided into, so that several processes can take part; no more than max_concurrency",
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
    description: "sites whose work must be finished before this one's begins; a circle is refused",
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

const Rate = Type.Number({ minimum: 0, description: "good pages in the last minute or two" });
const ErrorRate = nullable(
  Type.Number({
    minimum: 0,
    maximum: 1,
    description: "of what ended in the last ten minutes, the part that was not good; null: nothing ended",
  }),
);

const counts = {
  queued: Count,
  running: { ...Count, description: "under way, as far as the limits of the site allow" },
  retrying: { ...Count, description: "failed, and tried again later" },
  completed: Count,
  failed: Count,
};

export const SiteProgress = strict({
  site: Type.String(),
  group: Group,
  state: oneOf([...SITE_STATES, "idle"], {
    description: "paused by an operator; blocked: its breaker is open; idle: nothing is to be done there",
  }),
  counts: strict(counts, { description: "pages of all runs that are kept" }),
  pages_per_second: Rate,
  error_rate: ErrorRate,
  waiting_for: nullable(
    strict(
      { reason: oneOf(WAIT_REASONS), ...waitingParts },
      { description: "why its work waits; null: nothing holds it, or there is none" },
    ),
  ),
  last_failure: LastFailure,
});

export const SitesProgress = strict({
  totals: strict({
    ...counts,
    sites: { ...Count, description: "all that are known" },
    active_sites: Count,
    waiting_sites: Count,
    paused_sites: Count,
    blocked_sites: Count,
    pages_per_second: Rate,
    error_rate: ErrorRate,
  }),
  sites: Type.Array(SiteProgress, { description: "up to 50 with open work, the busiest first" }),
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
      shards: { ...Count, description: "fewer than asked for where the limits allow no more" },
      strategy: oneOf(STRATEGIES),
      respect_robots: Type.Boolean(),
    },
    { description: "what holds, with the configured defaults and the pause that robots.txt asks for" },
  ),
  crawl_delay_ms: nullable(
    Type.Integer({ minimum: 0, description: "pause between two requests that robots.txt asks for; the larger holds" }),
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
    { description: "of good answers in the last ten minutes; null: none was measured" },
  ),
  first_seen_at: nullable(Time),
  last_success_at: nullable(Time),
  held_until: nullable(Time),
  next_fetch_at: nullable({
    ...Time,
    description: "nothing is sent to it before; null: now is as good, or it is not a matter of time",
  }),
});
