import type { Clock } from "../../base/clock.ts";
import { siteHold } from "../../domain/lane/backoff.ts";
import { type Bucket, emptyBucket, reserveToken, takeToken, usualBurst } from "../../domain/lane/bucket.ts";
import {
  type Breaker,
  breakerAfterFailure,
  breakerAfterSuccess,
  breakerPhase,
  CLOSED_BREAKER,
  type FailedPage,
  FAILED_PROBES_BEFORE_GIVING_UP,
} from "../../domain/lane/circuit.ts";
import { countsForBreaker, holdsSite, mayBeOfPage } from "../../domain/run/classify.ts";
import type { Failure } from "../../domain/run/failure.ts";
import { siteFailure } from "../../domain/run/last-failure.ts";
import { type Shard, shareOfLimits } from "../../domain/lane/shards.ts";
import type { RunEvent } from "../../domain/run/outcome.ts";
import type { Politeness, ServerLimits, SiteRecord } from "../../store/records/site-records.ts";
import { AdaptiveConcurrency } from "./adaptive-concurrency.ts";
import type { PaceMemory } from "./pace-memories.ts";
import type { LaneRules } from "../rules.ts";

export type Gate =
  | { kind: "go" }
  /** Nothing may start before this many milliseconds have passed. */
  | { kind: "wait"; ms: number; why: "circuit_open" | "rate_limited" | "crawl_delay" | "min_delay" | "rate" }
  /** Nothing may start before something else changes. */
  | { kind: "wait"; ms: null; why: "paused" | "concurrency" | "probing" | "refused" }
  /**
   * The site is given up until the next probe in `ms`: tasks of runs with a deadline wait for it, others fail as
   * circuit_open.
   */
  | { kind: "give_up"; ms: number };

const NO_LIMITS: ServerLimits = {
  maxConcurrency: null,
  requestsPerSecond: null,
  burst: null,
  minDelayMs: null,
  paused: false,
};

/** The shards of a site probe it one after the other, this far apart, so that each knows the result of the one before. */
const PROBE_STAGGER_MS = 5000;

/**
 * The politeness rules of one lane: concurrency, rate, delay, holds and the breaker. A lane has one owner, so these are
 * plain numbers in one process and still exact across machines; the lane of a shard has its share of the site's limits.
 */
export class Pace {
  readonly #rules: LaneRules;
  readonly #clock: Clock;
  readonly #site: string | null;
  readonly #shard: Shard | undefined;
  #limits: ServerLimits;
  #politeness: Politeness;
  #bucket: Bucket;
  /** May lie in the future: reserved for a task that has already started. */
  #lastStart: number;
  readonly #adaptive: AdaptiveConcurrency;
  /** Crawl-delay of robots.txt by site; the sites of one server keep the longest. */
  readonly #crawlDelays: Map<string, number>;
  #crawlDelayMs = 0;
  #inFlight = 0;
  /** Answers with 429 or 503 that are still being read. */
  #refusals = 0;
  #changed = false;

  constructor(
    site: SiteRecord | null,
    rules: LaneRules,
    clock: Clock,
    memory?: PaceMemory,
    { shard, restMs }: { shard?: Shard | undefined; restMs?: number | undefined } = {},
  ) {
    this.#rules = rules;
    this.#clock = clock;
    this.#site = site?.site ?? null;
    this.#shard = shard;
    this.#limits = this.#shareOf(site ?? NO_LIMITS);
    this.#crawlDelays = new Map(memory?.crawlDelays);
    if (site !== null && memory === undefined) this.#crawlDelays.set(site.site, site.crawlDelayMs ?? 0);
    this.#crawlDelayMs = Math.max(0, ...this.#crawlDelays.values());
    this.#politeness = {
      holdUntil: site?.holdUntil ?? 0,
      holdStep: site?.holdStep ?? 0,
      breaker: site?.breaker ?? CLOSED_BREAKER,
      lastFailure: site?.lastFailure ?? null,
    };
    // A new owner does not know its predecessor's last request: it starts with an empty bucket and one delay.
    this.#bucket = memory?.bucket ?? emptyBucket(clock.monotonic());
    this.#lastStart = memory?.lastStart ?? clock.monotonic();
    this.#adaptive = memory?.adaptive ?? new AdaptiveConcurrency(rules.retry.backoff.maxMs, shard?.of);
    if (memory === undefined && this.#politeness.holdStep > 0) this.#adaptive.refused(this.concurrency);
    if (memory === undefined && restMs !== undefined) this.#startAfter(restMs);
  }

  /** The previous owner recorded when the site accepts the next request: no additional delay applies. */
  #startAfter(restMs: number): void {
    const at = this.#clock.monotonic() + restMs;
    this.#lastStart = at - Math.max(this.#minDelayMs, this.#crawlDelayMs);
    const rate = this.#limits.requestsPerSecond;
    if (rate !== null && rate > 0) this.#bucket = emptyBucket(at - 1000 / rate);
  }

  /** Milliseconds until delay and rate allow the next start, for the next owner. */
  get restMs(): number {
    const now = this.#clock.monotonic();
    const delayMs = this.#lastStart + Math.max(this.#minDelayMs, this.#crawlDelayMs) - now;
    const rate = this.#limits.requestsPerSecond;
    const rateMs = rate !== null && rate > 0 ? takeToken(this.#bucket, this.#bucketRule(rate), now).waitMs : 0;
    return Math.max(0, delayMs, rateMs);
  }

  #shareOf(limits: ServerLimits): ServerLimits {
    return this.#shard === undefined ? limits : shareOfLimits(limits, this.#shard);
  }

  memory(): PaceMemory {
    return {
      bucket: this.#bucket,
      lastStart: this.#lastStart,
      crawlDelays: this.#crawlDelays,
      adaptive: this.#adaptive,
    };
  }

  get concurrency(): number {
    return Math.max(1, this.#limits.maxConcurrency ?? this.#rules.maxPerSite);
  }

  /** How many more tasks the concurrency allows. */
  get free(): number {
    return Math.max(1, this.#atOnce - this.#inFlight);
  }

  /** How many tasks delays and rate allow within about a second. */
  get soon(): number {
    const { requestsPerSecond: rate } = this.#limits;
    const spacing = Math.max(this.#minDelayMs, this.#crawlDelayMs, rate !== null && rate > 0 ? 1000 / rate : 0);
    return spacing === 0 ? Number.POSITIVE_INFINITY : Math.ceil(1000 / spacing);
  }

  get #atOnce(): number {
    return this.#adaptive.atOnce(this.concurrency);
  }

  /** Crawl-delay of robots.txt. */
  get crawlDelayMs(): number {
    return this.#crawlDelayMs;
  }

  setCrawlDelay(site: string, ms: number): void {
    // The caller has just fetched robots.txt, which counts as a request.
    if (ms > this.#crawlDelayMs) this.#lastStart = Math.max(this.#lastStart, this.#clock.monotonic());
    this.#setDelay(site, ms);
  }

  #setDelay(site: string, ms: number): void {
    if (this.#crawlDelays.get(site) === ms) return;
    this.#crawlDelays.set(site, ms);
    this.#crawlDelayMs = Math.max(...this.#crawlDelays.values());
  }

  get breaker(): Breaker {
    return this.#politeness.breaker;
  }

  /** The breaker is half open. */
  get isProbing(): boolean {
    return breakerPhase(this.#politeness.breaker, this.#clock.now()) === "half_open";
  }

  /**
   * The operator changed the limits, reset the breaker, or added a site with a longer hold to the group. While `settling`,
   * the store is behind: a closed breaker there is no reset.
   */
  refresh(site: SiteRecord, options: { settling?: boolean } = {}): void {
    this.#limits = this.#shareOf(site);
    this.#setDelay(site.site, site.crawlDelayMs ?? 0);
    if (this.#shard !== undefined) this.#applyOtherShards(site);
    if (options.settling === true || this.#changed) return;
    const { openUntil, failedProbes } = this.#politeness.breaker;
    const isReset = openUntil !== null && (site.breaker.openUntil === null || site.breaker.failedProbes < failedProbes);
    const isStricter = site.holdUntil > this.#politeness.holdUntil || (site.breaker.openUntil ?? 0) > (openUntil ?? 0);
    if (isReset || isStricter) {
      const { holdUntil, holdStep, breaker, lastFailure = null } = site;
      this.#politeness = { holdUntil, holdStep, breaker, lastFailure };
    }
  }

  /** Applies what the site answered to another shard, even if it is not in the store yet. */
  #applyOtherShards({ holdUntil, holdStep, breaker, lastFailure = null }: Politeness): void {
    const known = this.#politeness;
    const isHeld = holdUntil > known.holdUntil;
    if (isHeld && holdStep > known.holdStep) this.#adaptive.refused(this.#atOnce);
    this.#politeness = {
      ...(isHeld ? { holdUntil, holdStep } : { holdUntil: known.holdUntil, holdStep: known.holdStep }),
      breaker: (breaker.openUntil ?? 0) > (known.breaker.openUntil ?? 0) ? breaker : known.breaker,
      lastFailure: known.lastFailure ?? lastFailure,
    };
  }

  /** The site accepts no requests, not even from tasks that have started. */
  get isHeld(): boolean {
    const now = this.#clock.now();
    const { holdUntil, breaker } = this.#politeness;
    return this.#limits.paused || holdUntil > now || breakerPhase(breaker, now) === "open";
  }

  /** The site refuses: nothing starts until the answer was read completely, when its task ends. */
  beginRefusal(): void {
    this.#refusals += 1;
  }

  endRefusal(): void {
    this.#refusals -= 1;
  }

  /** Whether one more task may start now. Read-only. */
  gate(): Gate {
    if (this.#limits.paused) return { kind: "wait", ms: null, why: "paused" };
    if (this.#inFlight >= this.#atOnce) return { kind: "wait", ms: null, why: "concurrency" };
    if (this.#refusals > 0) return { kind: "wait", ms: null, why: "refused" };
    const now = this.#clock.now();
    const phase = breakerPhase(this.#politeness.breaker, now);
    if (phase === "open") {
      const { openUntil, failedProbes } = this.#politeness.breaker;
      const ms = (openUntil ?? now) - now;
      if (failedProbes >= FAILED_PROBES_BEFORE_GIVING_UP) return { kind: "give_up", ms };
      return { kind: "wait", ms, why: "circuit_open" };
    }
    if (this.#politeness.holdUntil > now)
      return { kind: "wait", ms: this.#politeness.holdUntil - now, why: "rate_limited" };
    const staggerMs = (this.#shard?.index ?? 0) * PROBE_STAGGER_MS;
    const probeMs = phase === "half_open" ? (this.#politeness.breaker.openUntil ?? now) + staggerMs - now : 0;
    if (probeMs > 0) return { kind: "wait", ms: probeMs, why: "circuit_open" };
    if (phase === "half_open" && this.#inFlight > 0) return { kind: "wait", ms: null, why: "probing" };
    const minDelay = this.#minDelayMs;
    const delay = Math.max(minDelay, this.#crawlDelayMs);
    const sinceLast = this.#clock.monotonic() - this.#lastStart;
    if (delay > 0 && sinceLast < delay)
      return { kind: "wait", ms: delay - sinceLast, why: delay > minDelay ? "crawl_delay" : "min_delay" };
    const rate = this.#limits.requestsPerSecond;
    if (rate !== null && rate > 0) {
      const { waitMs } = takeToken(this.#bucket, this.#bucketRule(rate), this.#clock.monotonic());
      if (waitMs > 0) return { kind: "wait", ms: waitMs, why: "rate" };
    }
    return { kind: "go" };
  }

  get #minDelayMs(): number {
    return Math.max(this.#limits.minDelayMs ?? this.#rules.minDelayMs, this.#adaptive.spacingMs);
  }

  /** Reserves a turn for another request of a started task; returns the milliseconds until then. */
  nextTurn(): number {
    const now = this.#clock.monotonic();
    let at = Math.max(now, this.#lastStart + Math.max(this.#minDelayMs, this.#crawlDelayMs));
    const rate = this.#limits.requestsPerSecond;
    if (rate !== null && rate > 0) {
      const { bucket, waitMs } = reserveToken(this.#bucket, this.#bucketRule(rate), now);
      at = Math.max(at, now + waitMs);
      this.#bucket = bucket;
    }
    this.#lastStart = at;
    return at - now;
  }

  start(): void {
    this.#inFlight += 1;
    this.#lastStart = this.#clock.monotonic();
    const rate = this.#limits.requestsPerSecond;
    if (rate !== null && rate > 0) {
      this.#bucket = takeToken(this.#bucket, this.#bucketRule(rate), this.#lastStart).bucket;
    }
  }

  /**
   * A started task has ended; `failure` is undefined when it says nothing about the site. `answeredMs` is the latency of a
   * good answer; null: not measured, absent: tasks of this kind never are. `site` is the task's site within the lane's
   * group; `page` describes the failed page for the breaker.
   */
  end(
    failure: Failure | null | undefined,
    answeredMs?: number | null,
    site = this.#site,
    page?: FailedPage,
  ): RunEvent[] {
    this.#inFlight -= 1;
    if (failure === undefined) return [];
    if (failure === null) {
      this.#succeeded(answeredMs);
      return [];
    }
    return this.#failed(failure, site, page);
  }

  /** The state to store; null: unchanged since the last call. */
  takeChange(): Politeness | null {
    if (!this.#changed) return null;
    this.#changed = false;
    return this.#politeness;
  }

  #bucketRule(perSecond: number) {
    return { perSecond, burst: this.#limits.burst ?? usualBurst(perSecond) };
  }

  #succeeded(answeredMs: number | null | undefined): void {
    const { breaker, holdStep, holdUntil } = this.#politeness;
    const after = breakerAfterSuccess(breaker);
    if (this.#clock.now() >= holdUntil) this.#adaptive.answered(answeredMs, this.concurrency, this.#inFlight);
    const quiet = holdStep > 0 && this.#clock.now() >= holdUntil;
    if (after === breaker && !quiet) return;
    this.#politeness = { holdUntil, holdStep: quiet ? 0 : holdStep, breaker: after, lastFailure: null };
    this.#changed = true;
  }

  #failed(failure: Failure, site: string | null, page: FailedPage | undefined): RunEvent[] {
    const events: RunEvent[] = [];
    const now = this.#clock.now();
    let { holdUntil, holdStep, breaker } = this.#politeness;
    // Refusals of requests that were in flight together count as one.
    const fresh = now >= holdUntil;
    if (holdsSite(failure)) {
      const rest = failure.retryAfterMs ?? (fresh ? siteHold(this.#rules.retry.backoff, holdStep) : 0);
      const until = now + Math.min(rest, this.#rules.retry.retryAfterMaxMs);
      if (until > holdUntil) {
        // Requests in flight at the first refusal are refused a little later: that is not a new refusal.
        const isNews = fresh || until - holdUntil > holdUntil - now;
        holdUntil = until;
        if (isNews)
          events.push(event("site.rate_limited", site, until, failure, { seconds: Math.round((until - now) / 1000) }));
      }
      if (fresh) {
        holdStep += 1;
        this.#adaptive.refused(Math.min(this.#atOnce, this.#inFlight + 1));
      }
    }
    if (failure.code === "timeout") this.#adaptive.timedOut(this.concurrency, this.#inFlight);
    if (countsForBreaker(failure) && (fresh || !holdsSite(failure))) {
      const wasOpen = breaker.openUntil;
      breaker = breakerAfterFailure(breaker, this.#rules.breaker, now, page && asFailed(page, failure));
      if (breaker.openUntil !== null && breaker.openUntil !== wasOpen) {
        const { failures, failedProbes: failed_probes } = breaker;
        events.push(event("circuit.opened", site, breaker.openUntil, failure, { failures, failed_probes }));
      }
    }
    const before = this.#politeness;
    const isOfSite = holdsSite(failure) || countsForBreaker(failure);
    const lastFailure = isOfSite ? siteFailure(failure) : (before.lastFailure ?? null);
    this.#politeness = { holdUntil, holdStep, breaker, lastFailure };
    if (holdUntil !== before.holdUntil || holdStep !== before.holdStep || breaker !== before.breaker)
      this.#changed = true;
    return events;
  }
}

/** A failure that cannot be the page's own counts at every attempt, even when other pages succeed. */
function asFailed({ page, isRetry, answered }: FailedPage, failure: Failure): FailedPage {
  if (mayBeOfPage(failure)) return { page, isRetry, answered };
  // After a 429 the same page is requested again when the hold ends: each answer is a refusal of its own.
  return { page: holdsSite(failure) ? null : page, isRetry: false, answered: 0 };
}

const SITE_EVENTS = { "site.rate_limited": "Site rate limited", "circuit.opened": "Circuit opened" } as const;

function event(
  type: keyof typeof SITE_EVENTS,
  site: string | null,
  until: number,
  last: Failure,
  more: Record<string, unknown>,
): RunEvent {
  const time = new Date(until).toISOString();
  const { reason: failure_reason, httpStatus: http_status } = last;
  return {
    type,
    level: "warn",
    message: `${SITE_EVENTS[type]}: ${site ?? "the site"} until ${time.slice(11, 19)} UTC, because ${last.message}`,
    meta: { site, until: time, failure_reason, http_status, ...more },
  };
}
