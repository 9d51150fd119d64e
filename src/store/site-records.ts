/** The words of the store about sites. */
import type { Breaker } from "../domain/circuit.ts";
import type { LearnedStrategy } from "../domain/run-facts.ts";

/** What the target's behaviour asked of us. */
export interface Politeness {
  holdUntil: number;
  holdStep: number;
  breaker: Breaker;
}

/** What the operator asked of us; null means the configured default. */
export interface SiteLimits {
  maxConcurrency: number | null;
  requestsPerSecond: number | null;
  burst: number | null;
  minDelayMs: number | null;
  paused: boolean;
}

export interface SiteRecord extends SiteLimits, Politeness {
  site: string;
  lane: string;
  /** What robots.txt asks for between two requests, over all origins of the site; null: nothing. */
  crawlDelayMs: number | null;
  learned: LearnedStrategy | null;
}
