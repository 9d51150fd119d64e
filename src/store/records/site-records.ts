/** Records of sites. */
import type { Breaker } from "../../domain/lane/circuit.ts";
import type { Failure } from "../../domain/run/failure.ts";
import type { SiteFailure } from "../../domain/run/last-failure.ts";
import type { StrategyName } from "../../domain/run/recipe.ts";
import type { TaskCounts } from "../../domain/run/run-end.ts";
import type { LearnedStrategy } from "../../domain/run/run-facts.ts";
import type { SiteHealth } from "../../domain/site/site-health.ts";
import type { RunHold } from "../../domain/run/run-hold.ts";
import type { SiteState } from "../../domain/site/site-states.ts";
import type { RunState } from "../../domain/run/states.ts";
import type { Waiting } from "../../domain/run/waiting.ts";

/** Back-off state of a server. The sites of a group are one server and share it. */
export interface Politeness {
  holdUntil: number;
  holdStep: number;
  breaker: Breaker;
  /** Its last failure; null or absent: it answers. */
  lastFailure?: SiteFailure | null;
}

/** The operator's limits for a server, shared by all sites of a group; null: the configured default. */
export interface ServerLimits {
  maxConcurrency: number | null;
  requestsPerSecond: number | null;
  burst: number | null;
  minDelayMs: number | null;
  paused: boolean;
}

/** The operator's settings; null: the configured default. */
export interface SiteLimits extends ServerLimits {
  /** Memory limit of all browser pages of the site. */
  maxMemoryMb: number | null;
  strategy: StrategyName | null;
  respectRobots: boolean | null;
  /** Number of shards, so that several processes can work on the site. */
  shards: number | null;
  /** Sites of one group are one server; null: no group. */
  group: string | null;
  /** Sites that must finish before this one starts, by name. */
  dependsOn: readonly string[];
}

export interface SiteRecord extends SiteLimits, Politeness {
  site: string;
  /** The current lane of its work. */
  lane: string;
  /** Number of lanes of its work. */
  shardCount: number;
  /** The number to reshard to once no process works on it. */
  targetShardCount: number;
  /** The Crawl-delay of robots.txt over all origins of the server; null: none. */
  crawlDelayMs: number | null;
  learned: LearnedStrategy | null;
  /** Recent health, as last reported by its owner. */
  health: SiteHealth | null;
  /** What its owner waits for, as last reported; null: nothing. */
  waiting: Waiting | null;
  /** The sites of `dependsOn` that some of its work waits for now. */
  waitsFor: readonly string[];
  /** Pages of all existing runs. */
  counts: TaskCounts;
  /** When its first task came; null: only configured so far. */
  firstSeenAt: number | null;
}

export interface SiteFilter {
  /** Part of the name. */
  q?: string;
  state?: SiteState;
  group?: string;
  /** The name to continue after. */
  after?: string;
  limit: number;
}

export interface SiteTotals {
  /** Pages of all runs at all sites. */
  counts: TaskCounts;
  sites: number;
  byState: Record<SiteState, number>;
}

/** Why a run does not work. */
export interface HeldRun {
  status: RunState;
  hold: RunHold | null;
  /** It may work, but its whole remaining page quota is in flight elsewhere. */
  quotaExhausted: boolean;
}

/** The next retry at a site. */
export interface SiteRetry {
  at: number;
  /** Attempts so far, and their limit. */
  tries: number;
  maxAttempts: number | null;
  url: string | null;
  /** Nothing else at the site can start before it. */
  isNext: boolean;
  /** Why it failed; null: it waits for something else, such as a proxy. */
  failure: Failure | null;
}
