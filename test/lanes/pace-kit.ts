/** The pace of one site, with a clock that a test sets. */
import assert from "node:assert/strict";
import { CLOSED_BREAKER } from "../../src/domain/lane/circuit.ts";
import { classifyStatus } from "../../src/domain/run/classify.ts";
import { type Failure } from "../../src/domain/run/failure.ts";
import { Pace } from "../../src/lanes/limits/pace.ts";
import type { LaneRules } from "../../src/lanes/rules.ts";
import { NO_TASKS } from "../../src/domain/run/run-end.ts";
import type { SiteRecord } from "../../src/store/records/site-records.ts";
import { FakeClock } from "../support/fake-clock.ts";

export const RULES: LaneRules = {
  maxPerSite: 10,
  minDelayMs: 0,
  breaker: { failures: 5, cooldownMs: 300_000 },
  retry: {
    backoff: { baseMs: 10_000, maxMs: 300_000 },
    maxAttempts: 3,
    retryAfterMaxMs: 3_600_000,
    rateLimitMaxWaits: 5,
  },
  maxPerResolver: {},
};

export function site(more: Partial<SiteRecord> = {}): SiteRecord {
  return {
    site: "a.example",
    lane: "site:a.example",
    maxConcurrency: null,
    requestsPerSecond: null,
    burst: null,
    minDelayMs: null,
    paused: false,
    holdUntil: 0,
    holdStep: 0,
    breaker: CLOSED_BREAKER,
    maxMemoryMb: null,
    strategy: null,
    respectRobots: null,
    shards: null,
    shardCount: 1,
    targetShardCount: 1,
    group: null,
    dependsOn: [],
    crawlDelayMs: null,
    learned: null,
    health: null,
    waiting: null,
    waitsFor: [],
    counts: NO_TASKS,
    firstSeenAt: null,
    ...more,
  };
}

export function make(more: Partial<SiteRecord> = {}, rules: Partial<LaneRules> = {}) {
  const clock = new FakeClock();
  const record = site(more);
  const pace = new Pace(record, { ...RULES, ...rules }, clock);
  /** Starts as many as may start now. */
  const startAll = () => {
    let started = 0;
    for (; pace.gate().kind === "go"; started += 1) pace.start();
    return started;
  };
  const one = (what: Failure | null) => {
    pace.start();
    return pace.end(what);
  };
  return { clock, pace, record, startAll, one };
}

export const answer = (status: number, retryAfterMs: number | null = null) =>
  classifyStatus(status, retryAfterMs) as Failure;
export const waitOf = (pace: Pace) => {
  const gate = pace.gate();
  assert.equal(gate.kind, "wait");
  return gate.kind === "wait" ? gate.ms : null;
};
export const whyOf = (pace: Pace) => {
  const gate = pace.gate();
  return gate.kind === "wait" ? gate.why : gate.kind;
};
