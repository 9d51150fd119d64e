import { isoOrNull } from "../../base/iso.ts";
import { usualBurst } from "../../domain/lane/bucket.ts";
import { breakerPhase } from "../../domain/lane/circuit.ts";
import { type LastFailure, lastFailure } from "../../domain/run/last-failure.ts";
import type { StrategyName } from "../../domain/run/recipe.ts";
import type { TaskCounts } from "../../domain/run/run-end.ts";
import { summaryOf } from "../../domain/site/site-health.ts";
import type { SiteState } from "../../domain/site/site-states.ts";
import {
  begunByOwner,
  type LostLease,
  type SiteDefaults,
  reportedByOwner,
  waitingFor,
  type WaitingView,
} from "../../domain/run/waiting.ts";
import { paceLimits } from "../../domain/run/waiting-sentence.ts";
import { shownUrl } from "../../domain/text/url.ts";
import type { HeldRun, SiteRecord, SiteRetry } from "../../store/records/site-records.ts";
import { siteVersion } from "../../store/versions.ts";
import type { RunSiteDeps } from "../runs/sites.ts";
import {
  lostLeases,
  holdMessage,
  type NoWorkers,
  noWorkersReason,
  waitingMessage,
} from "../workers/worker-availability.ts";

/** Default settings of sites. */
export interface SiteDeps extends RunSiteDeps {
  /** Whether crawls obey robots.txt by default. */
  respectRobots: boolean;
}

export type SiteWork = Record<"queued" | "running" | "retrying" | "completed" | "failed", number>;

/** Current state of a site. */
export interface SiteProgress {
  site: string;
  group: string | null;
  /** `idle`: no work. */
  state: SiteState | "idle";
  /** Pages of all stored runs. */
  counts: SiteWork;
  /** Successful pages in the last one or two minutes. */
  pages_per_second: number;
  /** Share of failures among outcomes of the last ten minutes; null: nothing ended. */
  error_rate: number | null;
  waiting_for: WaitingView | null;
  /** Its last failure, or the failure of a page that will be retried; null: the site answers. */
  last_failure: LastFailure | null;
}

/** A site as the API returns it. */
export interface SiteView extends SiteProgress {
  max_concurrency: number | null;
  requests_per_second: number | null;
  burst: number | null;
  min_delay_ms: number | null;
  max_memory_mb: number | null;
  strategy: StrategyName | null;
  respect_robots: boolean | null;
  shards: number;
  depends_on: string[];
  paused: boolean;
  /** Version of these settings; a change that sends an outdated one is rejected. */
  version: string;
  /** The effective values, with the configured defaults and the delay of robots.txt. */
  effective: {
    max_concurrency: number;
    requests_per_second: number | null;
    burst: number | null;
    min_delay_ms: number;
    /** Fewer than requested if the limits allow no more. */
    shards: number;
    strategy: StrategyName;
    respect_robots: boolean;
  };
  /** The crawl delay of robots.txt; null: none. */
  crawl_delay_ms: number | null;
  /** The strategy its pages were found to need; null: none, or expired. */
  learned_strategy: {
    strategy: string;
    reason: string;
    scope: "page" | "site";
    pages: number;
    expires_at: string;
  } | null;
  breaker: { state: "closed" | "open" | "half_open"; failures: number; reopens_at: string | null };
  latency_ms: { p50: number | null; p95: number | null };
  first_seen_at: string | null;
  last_success_at: string | null;
  held_until: string | null;
  /** Nothing is sent before; null: now, or unknown. */
  next_fetch_at: string | null;
}

/** Values shared by all sites of one request. */
interface Moment {
  defaults: SiteDefaults;
  respectRobots: boolean;
  noWorkers: NoWorkers | null;
  lost: ReadonlyMap<string, LostLease>;
  now: number;
}

/** Open work of a site. */
interface OpenWork {
  /** A run that waits, if no run may work. */
  held: HeldRun | null;
  /** Failed work: what is retried first, and when. */
  retry: SiteRetry | null;
}

export async function siteViews(deps: SiteDeps, records: readonly SiteRecord[]): Promise<SiteView[]> {
  return lookAt(deps, records, toView);
}

export async function siteProgress(deps: SiteDeps, records: readonly SiteRecord[]): Promise<SiteProgress[]> {
  return lookAt(deps, records, toProgress);
}

async function lookAt<T>(
  deps: SiteDeps,
  records: readonly SiteRecord[],
  show: (record: SiteRecord, open: OpenWork, moment: Moment) => T,
): Promise<T[]> {
  const { store, clock, siteDefaults: defaults, respectRobots } = deps;
  // Other lanes of a sharded site may continue.
  const claimed = records.filter(({ counts, shardCount }) => counts.running > 0 && shardCount === 1);
  const lost = await lostLeases(
    deps,
    claimed.map(({ lane }) => lane),
  );
  const moment = { defaults, respectRobots, noWorkers: await noWorkersReason(deps), lost, now: clock.now() };
  const views: T[] = [];
  for (const record of records) {
    // While a task runs, no run keeps the site waiting.
    const { running, retrying } = record.counts;
    const stands = openOf(record.counts) > 0 && running === 0;
    const held = stands ? await store.runHeldAt(record.site) : null;
    const retry = stands && retrying > 0 ? await store.nextTry(record.site) : null;
    views.push(show(record, { held, retry }, moment));
  }
  return views;
}

function toProgress(record: SiteRecord, open: OpenWork, moment: Moment): SiteProgress {
  const { errorRate, perSecond } = summaryOf(record.health, moment.now);
  return {
    site: record.site,
    group: record.group,
    state: stateOf(record, moment),
    counts: workNow(record, moment),
    pages_per_second: rounded(perSecond, 1),
    error_rate: errorRate === null ? null : rounded(errorRate, 3),
    waiting_for: waitingView(record, open, moment),
    last_failure: lastOf(record, open),
  };
}

function toView(record: SiteRecord, open: OpenWork, moment: Moment): SiteView {
  const { breaker, health } = record;
  const { now } = moment;
  const { p50Ms, p95Ms } = summaryOf(health, now);
  return {
    ...toProgress(record, open, moment),
    max_concurrency: record.maxConcurrency,
    requests_per_second: record.requestsPerSecond,
    burst: record.burst,
    min_delay_ms: record.minDelayMs,
    max_memory_mb: record.maxMemoryMb,
    strategy: record.strategy,
    respect_robots: record.respectRobots,
    shards: record.shards ?? 1,
    depends_on: [...record.dependsOn],
    paused: record.paused,
    version: siteVersion(record),
    effective: effectiveOf(record, moment),
    crawl_delay_ms: record.crawlDelayMs,
    learned_strategy: learnedView(record, now),
    breaker: {
      state: breakerPhase(breaker, now),
      failures: breaker.failures,
      reopens_at: isoOrNull(breaker.openUntil),
    },
    latency_ms: { p50: p50Ms, p95: p95Ms },
    first_seen_at: isoOrNull(record.firstSeenAt),
    last_success_at: isoOrNull(health?.lastSuccessAt ?? null),
    held_until: record.holdUntil > now ? isoOrNull(record.holdUntil) : null,
    next_fetch_at: nextFetchAt(record, now),
  };
}

function effectiveOf(record: SiteRecord, { defaults, respectRobots }: Moment): SiteView["effective"] {
  const rate = record.requestsPerSecond;
  return {
    max_concurrency: atOnce(record, defaults),
    requests_per_second: rate,
    burst: rate === null ? null : (record.burst ?? usualBurst(rate)),
    min_delay_ms: Math.max(record.minDelayMs ?? defaults.minDelayMs, record.crawlDelayMs ?? 0),
    shards: record.targetShardCount,
    strategy: record.strategy ?? "auto",
    respect_robots: record.respectRobots ?? respectRobots,
  };
}

function learnedView({ learned }: SiteRecord, now: number): SiteView["learned_strategy"] {
  if (learned === null || Date.parse(learned.expires_at) <= now) return null;
  const { strategy, reason, scope, pages, expires_at } = learned;
  return { strategy, reason, scope, pages: pages.length, expires_at };
}

const atOnce = ({ maxConcurrency }: SiteRecord, { maxPerSite }: SiteDefaults) =>
  Math.max(1, maxConcurrency ?? maxPerSite);

function openOf({ pending, queued, running, retrying }: TaskCounts): number {
  return pending + queued + running + retrying;
}

/**
 * Owners claim more than they have started: at most what the limit allows is in flight, and at most what the owner
 * reports while nothing may start.
 */
export function runningAt(record: SiteRecord, claimed: number, defaults: SiteDefaults, now: number): number {
  const begun = begunByOwner(record, claimed, now);
  return Math.min(claimed, begun, atOnce(record, defaults));
}

export function workOf(record: SiteRecord, defaults: SiteDefaults, now: number): SiteWork {
  const { pending, queued, retrying, completed, failed } = record.counts;
  const running = runningAt(record, record.counts.running, defaults, now);
  return { queued: pending + queued + record.counts.running - running, running, retrying, completed, failed };
}

function workNow(record: SiteRecord, moment: Moment): SiteWork {
  const work = workOf(record, moment.defaults, moment.now);
  return isStalled(record, moment) ? { ...work, queued: work.queued + work.running, running: 0 } : work;
}

/** Matches the store's lists. */
function stateOf(record: SiteRecord, moment: Moment): SiteProgress["state"] {
  const { paused, breaker, counts, waiting, lane } = record;
  if (paused) return "paused";
  if ((breaker.openUntil ?? 0) > moment.now) return "blocked";
  if (counts.queued + counts.running + counts.retrying === 0) return "idle";
  if (counts.running === 0 || waiting !== null || moment.lost.has(lane)) return "waiting";
  return isStalled(record, moment) ? "waiting" : "active";
}

/** No worker accepts tasks, and none is in flight here. */
function isStalled({ lane }: SiteRecord, { noWorkers }: Moment): boolean {
  return noWorkers !== null && !noWorkers.lanes.has(lane);
}

function waitingView(record: SiteRecord, open: OpenWork, moment: Moment): WaitingView | null {
  const { held, retry } = open;
  const noWorkers = isStalled(record, moment) ? moment.noWorkers : null;
  const lost = moment.lost.get(record.lane) ?? null;
  const work = {
    runStatus: held?.status ?? "running",
    hold: held?.hold ?? null,
    // Claimed tasks that have not started wait as well.
    counts: { ...workNow(record, moment), pending: 0, ...(retry?.isNext === true ? { queued: 0 } : {}) },
    nextTryAt: retry?.at ?? null,
    laneRunning: record.counts.running,
    idle: noWorkers?.reason ?? null,
    lost,
    dependsOnOthers: record.waitsFor.length > 0,
    quotaExhausted: held?.quotaExhausted === true,
  };
  const waiting = waitingFor(work, record, moment.defaults, moment.now);
  if (waiting === null) return null;
  const { reason, until } = waiting;
  const last = OF_FAILURE.has(reason) ? lastOf(record, open) : null;
  const limits = paceLimits(record, moment.defaults);
  const message =
    holdMessage(reason, held?.hold) ??
    waitingMessage(waiting, noWorkers, { needs: record.waitsFor, limits, last, lost });
  return { reason, until: isoOrNull(until), message, last_failure: last };
}

/** Waiting reasons that a failure causes. */
const OF_FAILURE: ReadonlySet<WaitingView["reason"]> = new Set(["retry", "circuit_open", "rate_limited", "probing"]);

/** Last failure of a page that will be retried, or else of the site itself. */
function lastOf({ lastFailure: did = null }: SiteRecord, { retry }: OpenWork): LastFailure | null {
  if (retry?.failure) {
    const { failure, tries, maxAttempts, url, at } = retry;
    const shown = url === null ? null : shownUrl(url);
    return lastFailure(failure, {
      url: shown,
      attempt: tries + 1,
      max_attempts: maxAttempts,
      next_try_at: isoOrNull(at),
    });
  }
  return did === null ? null : lastFailure(did);
}

function nextFetchAt(record: SiteRecord, now: number): string | null {
  if (record.paused) return null;
  const reportedUntil = reportedByOwner(record, record.counts.running, now)?.until ?? 0;
  const at = Math.max(record.breaker.openUntil ?? 0, record.holdUntil, reportedUntil);
  return at > now ? isoOrNull(at) : null;
}

export function rounded(value: number, digits: number): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}
