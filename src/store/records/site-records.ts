/** The words of the store about sites. */
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

/** What the target's behaviour asked of us. Sites of a group are one server: it is the same for all of them. */
export interface Politeness {
  holdUntil: number;
  holdStep: number;
  breaker: Breaker;
  /** What it did last that counts against it; null or absent: it answers. */
  lastFailure?: SiteFailure | null;
}

/** What the operator asked of us for a server, which all sites of a group have in common; null: the configured default. */
export interface ServerLimits {
  maxConcurrency: number | null;
  requestsPerSecond: number | null;
  burst: number | null;
  minDelayMs: number | null;
  paused: boolean;
}

/** What the operator asked of us; null means the configured default. */
export interface SiteLimits extends ServerLimits {
  /** What the browser pages of the site may take together. */
  maxMemoryMb: number | null;
  strategy: StrategyName | null;
  respectRobots: boolean | null;
  /** How many shards its work is to be divided into, so that several processes can take part. */
  shards: number | null;
  /** Sites of one group are one server; null: it is a server of its own. */
  group: string | null;
  /** Sites whose work must be finished before this one's begins, by name. */
  dependsOn: readonly string[];
}

export interface SiteRecord extends SiteLimits, Politeness {
  site: string;
  /** The lane its work is in at present. */
  lane: string;
  /** In how many lanes its work is. */
  shardCount: number;
  /** In how many it is to be as soon as nobody works on it. */
  targetShardCount: number;
  /** What robots.txt asks for between two requests, over all origins of the server; null: nothing. */
  crawlDelayMs: number | null;
  learned: LearnedStrategy | null;
  /** How it has done of late, as its owner said last. */
  health: SiteHealth | null;
  /** What its owner waits for, as it said last; null: it goes on. */
  waiting: Waiting | null;
  /** Those of `dependsOn` whose work some of this site's work waits for now. */
  waitsFor: readonly string[];
  /** Pages of all runs that are there. */
  counts: TaskCounts;
  /** When its first task came; null: it was only named so far. */
  firstSeenAt: number | null;
}

export interface SiteFilter {
  /** A part of the name. */
  q?: string;
  state?: SiteState;
  group?: string;
  /** The name to go on behind. */
  after?: string;
  limit: number;
}

export interface SiteTotals {
  /** Pages of all runs at all sites. */
  counts: TaskCounts;
  sites: number;
  byState: Record<SiteState, number>;
}

/** What keeps a run from its work. */
export interface HeldRun {
  status: RunState;
  hold: RunHold | null;
  /** It may work, but all pages that it may still have are in hand elsewhere. */
  quotaExhausted: boolean;
}

/** A page of the site that is tried again before all others. */
export interface SiteRetry {
  at: number;
  /** How often it was tried, and how often it may be. */
  tries: number;
  maxAttempts: number | null;
  url: string | null;
  /** Nothing of a run that may work can begin before it. */
  isNext: boolean;
  /** Why it has failed; null: it waits for something else, such as a proxy. */
  failure: Failure | null;
}
