import { usualBurst } from "../domain/bucket.ts";
import { breakerPhase } from "../domain/circuit.ts";
import type { StrategyName } from "../domain/recipe.ts";
import type { TaskCounts } from "../domain/run-end.ts";
import { summaryOf } from "../domain/site-health.ts";
import type { SiteState } from "../domain/site-states.ts";
import { type SiteDefaults, toldByOwner, type Waiting, waitingFor } from "../domain/waiting.ts";
import { paceLimits } from "../domain/waiting-sentence.ts";
import type { HeldRun, SiteRecord } from "../store/site-records.ts";
import type { RunSiteDeps } from "./runs/sites.ts";
import { type Standstill, standstill, waitingMessage } from "./workforce.ts";

/** What holds for sites of which nothing is said. */
export interface SiteDeps extends RunSiteDeps {
  /** Whether crawls obey robots.txt that do not say so themselves. */
  respectRobots: boolean;
}

/** Why work waits at a site. */
export interface SiteWaiting {
  reason: Waiting["reason"];
  /** Null: not a matter of time. */
  until: string | null;
  /** A sentence for people. */
  message: string;
}

export type SiteWork = Record<"queued" | "running" | "retrying" | "completed" | "failed", number>;

/** How a site is doing at present. */
export interface SiteProgress {
  site: string;
  group: string | null;
  /** `idle`: nothing is to be done there. */
  state: SiteState | "idle";
  /** Pages of all runs that are kept. */
  counts: SiteWork;
  /** Good pages in the last minute or two. */
  pages_per_second: number;
  /** Of what ended in the last ten minutes, the part that was not good; null: nothing ended. */
  error_rate: number | null;
  waiting_for: SiteWaiting | null;
}

/** A site as users see it. */
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
  /** What holds, with the configured defaults and what robots.txt asks for. */
  effective: {
    max_concurrency: number;
    requests_per_second: number | null;
    burst: number | null;
    min_delay_ms: number;
    /** Fewer than asked for where the limits allow no more. */
    shards: number;
    strategy: StrategyName;
    respect_robots: boolean;
  };
  /** What robots.txt asks for between two requests; null: nothing. */
  crawl_delay_ms: number | null;
  /** What its pages were found to need; null: nothing, or it is not believed any more. */
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
  /** Nothing is sent to it before; null: now is as good, or it is no matter of time. */
  next_fetch_at: string | null;
}

const iso = (time: number | null) => (time === null ? null : new Date(time).toISOString());

/** What is the same for all sites that are looked at together. */
interface Moment {
  defaults: SiteDefaults;
  respectRobots: boolean;
  still: Standstill | null;
  now: number;
}

/** What is known of the open work of a site where it stands. */
interface OpenWork {
  /** A run that waits, where none may work. */
  held: HeldRun | null;
  /** Where all that is left has failed: when the first is tried again. */
  nextTryAt: number | null;
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
  const moment = { defaults, respectRobots, still: await standstill(deps), now: clock.now() };
  const views: T[] = [];
  for (const record of records) {
    // Where something is at work, no run keeps the site waiting.
    const { pending, queued, running, retrying } = record.counts;
    const stands = openOf(record.counts) > 0 && running === 0;
    const held = stands ? await store.runHeldAt(record.site) : null;
    const nextTryAt = retrying > 0 && pending + queued + running === 0 ? await store.nextTryAt(record.site) : null;
    views.push(show(record, { held, nextTryAt }, moment));
  }
  return views;
}

function toProgress(record: SiteRecord, open: OpenWork, moment: Moment): SiteProgress {
  const { errorRate, perSecond } = summaryOf(record.health, moment.now);
  return {
    site: record.site,
    group: record.group,
    state: stateOf(record, moment.now),
    counts: workOf(record, moment.defaults),
    pages_per_second: rounded(perSecond, 1),
    error_rate: errorRate === null ? null : rounded(errorRate, 3),
    waiting_for: waitingView(record, open, moment),
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
    effective: effectiveOf(record, moment),
    crawl_delay_ms: record.crawlDelayMs,
    learned_strategy: learnedView(record, now),
    breaker: { state: breakerPhase(breaker, now), failures: breaker.failures, reopens_at: iso(breaker.openUntil) },
    latency_ms: { p50: p50Ms, p95: p95Ms },
    first_seen_at: iso(record.firstSeenAt),
    last_success_at: iso(health?.lastSuccessAt ?? null),
    held_until: record.holdUntil > now ? iso(record.holdUntil) : null,
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
    shards: record.splitDue,
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

/** An owner takes more in hand than it has begun: no more than the limit allows can be under way. */
export function runningAt(record: SiteRecord, inHand: number, defaults: SiteDefaults): number {
  return Math.min(inHand, atOnce(record, defaults));
}

export function workOf(record: SiteRecord, defaults: SiteDefaults): SiteWork {
  const { pending, queued, retrying, completed, failed } = record.counts;
  const running = runningAt(record, record.counts.running, defaults);
  return { queued: pending + queued + record.counts.running - running, running, retrying, completed, failed };
}

/** As the lists of the store have it. */
function stateOf({ paused, breaker, counts, waiting }: SiteRecord, now: number): SiteProgress["state"] {
  if (paused) return "paused";
  if ((breaker.openUntil ?? 0) > now) return "blocked";
  if (counts.queued + counts.running + counts.retrying === 0) return "idle";
  return counts.running === 0 || waiting !== null ? "waiting" : "active";
}

function waitingView(record: SiteRecord, { held, nextTryAt }: OpenWork, moment: Moment): SiteWaiting | null {
  const still = moment.still?.lanes.has(record.lane) === true ? null : moment.still;
  const work = {
    runStatus: held?.status ?? "running",
    hold: held?.hold ?? null,
    // What is in hand and has not begun waits, too.
    counts: { ...workOf(record, moment.defaults), pending: 0 },
    nextTryAt,
    laneRunning: record.counts.running,
    idle: still?.reason ?? null,
    dependsOnOthers: record.waitsFor.length > 0,
    noPlace: held?.noPlace === true,
  };
  const waiting = waitingFor(work, record, moment.defaults, moment.now);
  if (waiting === null) return null;
  const { reason, until } = waiting;
  const message = waitingMessage(waiting, still, record.waitsFor, paceLimits(record, moment.defaults));
  return { reason, until: iso(until), message: held?.hold?.message ?? message };
}

function nextFetchAt(record: SiteRecord, now: number): string | null {
  if (record.paused) return null;
  const told = toldByOwner(record, record.counts.running, now)?.until ?? 0;
  const at = Math.max(record.breaker.openUntil ?? 0, record.holdUntil, told);
  return at > now ? iso(at) : null;
}

export function rounded(value: number, digits: number): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}
