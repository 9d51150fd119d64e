import { GATHER_MS, SHARED_PAUSE_MS } from "../../../src/lanes/owner/settler.ts";
import { LIMITS } from "../../../src/store/postgres/limits.ts";
import type { LaneRules } from "../../../src/lanes/rules.ts";

/** What a cluster is made of, and what happens to it. Times in milliseconds. */
export interface ClusterPlan {
  seed: number;
  workers: number;
  /** Tasks in flight per worker: APP_MAX_WORKERS. */
  slots: number;
  sites: number;
  pagesPerSite: number;
  /** How long half of the answers take at most. */
  latencyMs: number;
  leaseTtlMs: number;
  heartbeatMs: number;
  /** How often a worker reads how many owners and open lanes there are. */
  shareLookMs: number;
  reconcileMs: number;
  /** A message to the database or to Redis and back. */
  roundTripMs: number;
  /** How long the server works for a write transaction, beside its rows. */
  writeMs: number;
  /** How long each row adds to that. */
  rowUs: number;
  /** For how many transactions the server works at once. */
  cores: number;
  /** Runs that the pages belong to. */
  runs: number;
  /** Jobs that the runs belong to, so that some of them share the states of their pages; 0: none. */
  jobs: number;
  /** As the product sets them on its connections. */
  lockTimeoutMs: number;
  statementTimeoutMs: number;
  idleTimeoutMs: number;
  /** How often somebody writes what concerns all runs; how long that may take at most, once in a while. */
  admitMs: number;
  longestAdmitMs: number;
  /** A rule that is broken on purpose, to see that it is noticed. */
  broken: "order of locks" | "heartbeats wait" | "tries wait" | null;
  /** How long outcomes gather before they are written together. */
  gatherMs: number;
  /** How long after a write the next begins at the earliest, unless somebody waits for it. */
  pauseMs: number;
  /** Rows written per page over its life; one of them when it is claimed. */
  rowsPerPage: number;
  /** When some workers are killed and others frozen. */
  faultAtMs: number;
  killed: number;
  frozen: number;
  frozenMs: number;
  /** How long it takes until a killed worker is started again. */
  restartMs: number;
}

/** The defaults of the product, and as many of its inputs as a benchmark has to tell: those are assumptions here. */
export function clusterPlan(workers: number, given: Partial<ClusterPlan> = {}): ClusterPlan {
  const leaseTtlMs = given.leaseTtlMs ?? 60_000;
  const some = Math.max(1, Math.round(workers / 50));
  const sites = given.sites ?? workers * 8;
  return {
    seed: 1,
    workers,
    slots: 32,
    sites,
    // Enough for a minute or more of work, and not so many that it takes minutes to play.
    pagesPerSite: Math.max(50, Math.min(400, Math.round(320_000 / sites))),
    latencyMs: 400,
    leaseTtlMs,
    heartbeatMs: leaseTtlMs / 4,
    shareLookMs: 1000,
    reconcileMs: 30_000,
    roundTripMs: 1,
    writeMs: 1,
    rowUs: 20,
    cores: 2,
    runs: Math.max(4, Math.round(sites / 4)),
    jobs: 0,
    lockTimeoutMs: LIMITS.lock_timeout,
    statementTimeoutMs: LIMITS.statement_timeout,
    idleTimeoutMs: LIMITS.idle_in_transaction_session_timeout,
    admitMs: 1000,
    longestAdmitMs: 0,
    broken: null,
    gatherMs: GATHER_MS,
    pauseMs: SHARED_PAUSE_MS,
    rowsPerPage: 5,
    faultAtMs: 10_000,
    killed: some,
    frozen: some,
    frozenMs: leaseTtlMs + 15_000,
    restartMs: 5000,
    ...given,
  };
}

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
