import type { Clock } from "../base/clock.ts";
import { type BackoffRule, siteHold } from "../domain/lane/backoff.ts";
import { classifyStatus, dispositionOf } from "../domain/run/classify.ts";
import { type FailureReason, FetchFailure } from "../domain/run/failure.ts";
import { parseRetryAfter } from "../domain/lane/retry-after.ts";
import {
  crawlDelaySeconds,
  isAllowed,
  parseRobots,
  ROBOTS_BYTES,
  type Robots,
  sitemaps,
} from "../domain/site/robots.ts";
import { robotsText } from "../domain/site/robots-lines.ts";
import { siteOf } from "../domain/text/url.ts";
import type { Upstream } from "../domain/proxy/upstream.ts";
import type { BodySink, ResponseHead } from "../net/http.ts";
import type { HttpClient } from "../net/http-client.ts";
import type { Store } from "../store/ports/port.ts";

interface RobotsGateOptions {
  http: HttpClient;
  clock: Clock;
  store: Pick<Store, "robots" | "keepRobots" | "site">;
  productToken: string;
  /** Back-off for origins whose robots.txt could not be fetched: doubles each time. */
  backoff: BackoffRule;
}

interface Copy {
  robots: Robots;
  fetchedAt: number;
}

/** What pages fail with while robots.txt cannot be read. */
interface Cause {
  /**
   * No response, or a rate limit, concerns the whole site, and pages fail with that reason. Any other response concerns
   * only robots.txt, and pages fail as robots_unreachable.
   */
  isSiteWide: boolean;
  /** Null: unknown, as through a proxy. */
  reason: FailureReason | null;
  httpStatus?: number;
}

const UNKNOWN_CAUSE: Cause = { isSiteWide: false, reason: null };

/** A period in which robots.txt of an origin could not be fetched. */
interface Outage {
  why: string;
  cause: Cause;
  times: number;
  /** By the monotonic clock. */
  until: number;
  /** The rules that apply during the outage. */
  old: Copy | null;
}

/** robots.txt could not be fetched. */
interface Unreadable extends Pick<Outage, "why" | "cause"> {
  body: null;
  /** Requested by Retry-After. */
  restMs: number;
}

interface Read {
  /** Empty: there is none. */
  body: Uint8Array;
  status: number;
  /** Why it may come from the proxy, or apply to its IP address alone; null: it looks like the site's rules. */
  suspicion: string | null;
}

/** A fetch in flight, and how many callers await it. */
interface PendingFetch {
  answer: Promise<Robots>;
  waiting: number;
  stop: AbortController;
}

const FRESH_MS = 24 * 3_600_000;
/** How long the last good copy is used while the server is unavailable. */
const USABLE_MS = 30 * 24 * 3_600_000;
const MAX_REST_MS = 3_600_000;
/** In the store. Most files have a few hundred bytes, but a site may send up to ROBOTS_BYTES. */
const MAX_STORED_BYTES = 256 * 1024 * 1024;
/** In memory; the store has the others. */
const MAX_ORIGINS = 1_000;

/**
 * robots.txt by RFC 9309: fetched once a day per origin, also across restarts; a 4xx allows everything; while the
 * server is unavailable the last good copy applies, and without one nothing is allowed. Through a proxy, only parsed
 * rules apply globally. Any other response may come from the proxy, or apply to its IP address: the first one for an
 * origin makes the page retry through another proxy, and the finally accepted one applies to pages through that proxy.
 */
export class RobotsGate {
  readonly #options: RobotsGateOptions;
  readonly #copies = new Map<string, Copy>();
  /** By origin and proxy: rules that apply to pages through that proxy alone. */
  readonly #copiesThrough = new Map<string, Copy>();
  /** By origin; through a proxy by origin and proxy. */
  readonly #outages = new Map<string, Outage>();
  /** Origins for which a proxy got no rules, and no other route has so far. */
  readonly #doubted = new Map<string, true>();
  /** By origin: the key of the proxy that first reported robots.txt as missing. */
  readonly #missing = new Map<string, string>();
  readonly #pending = new Map<string, PendingFetch>();
  /** By site: its origins share a lane. */
  readonly #delays = new Map<string, number>();

  constructor(options: RobotsGateOptions) {
    this.#options = options;
  }

  /**
   * Throws a FetchFailure when the page is disallowed; otherwise returns the crawl delay in milliseconds. `via` is the
   * proxy for fetching robots.txt, if necessary.
   */
  async check(url: string, signal: AbortSignal, via?: Upstream): Promise<number> {
    const robots = await this.#rulesOf(new URL(url).origin, signal, via);
    if (!isAllowed(robots, url)) throw new FetchFailure("robots_disallowed", "the site's robots.txt disallows it");
    return this.#delays.get(siteOf(url)) ?? millisecondsOf(robots) ?? 0;
  }

  /** The sitemaps that the origin's robots.txt names. Throws a FetchFailure when it cannot be read. */
  async sitemaps(origin: string, signal: AbortSignal, via?: Upstream): Promise<readonly string[]> {
    return sitemaps(await this.#rulesOf(new URL(origin).origin, signal, via));
  }

  /** Whether a redirect may be followed, by the rules known without a request; null: unknown. */
  mayFollow(url: URL, via?: Upstream): boolean | null {
    const key = keyOf(url.origin, via);
    const copy = this.#known(url.origin, key);
    if (copy !== null) return isAllowed(copy.robots, url.href);
    const outage = this.#outages.get(key);
    if (outage === undefined || outage.old === null || outage.until <= this.#options.clock.monotonic()) return null;
    return isAllowed(outage.old.robots, url.href);
  }

  async #rulesOf(origin: string, signal: AbortSignal, via: Upstream | undefined): Promise<Robots> {
    signal.throwIfAborted();
    const key = keyOf(origin, via);
    const copy = this.#known(origin, key);
    if (copy !== null) return copy.robots;
    const outage = this.#outages.get(key);
    if (outage !== undefined && outage.until > this.#options.clock.monotonic()) return this.#rulesDuring(outage);
    const pending = this.#pending.get(key) ?? this.#begin(key, origin, via);
    pending.waiting += 1;
    try {
      return await unlessAborted(pending.answer, signal);
    } finally {
      pending.waiting -= 1;
      // An aborted caller leaves at once; the request itself is aborted when no caller is left.
      if (pending.waiting === 0) {
        if (this.#pending.get(key) === pending) this.#pending.delete(key);
        pending.stop.abort();
      }
    }
  }

  /** Rules that apply now without a request; the origin's own take precedence over those from a proxy. */
  #known(origin: string, key: string): Copy | null {
    const copies = [this.#copies.get(origin), this.#copiesThrough.get(key)];
    return copies.find((copy) => copy !== undefined && this.#isFresh(copy)) ?? null;
  }

  /** A clock set back must not extend a copy's life. */
  #isFresh({ fetchedAt }: Copy): boolean {
    const age = this.#options.clock.now() - fetchedAt;
    return age >= 0 && age < FRESH_MS;
  }

  #begin(key: string, origin: string, via: Upstream | undefined): PendingFetch {
    const stop = new AbortController();
    const pending: PendingFetch = { answer: this.#load(key, origin, stop.signal, via), waiting: 0, stop };
    this.#pending.set(key, pending);
    return pending;
  }

  async #load(key: string, origin: string, signal: AbortSignal, via: Upstream | undefined): Promise<Robots> {
    const kept = await this.#storedCopy(origin);
    if (kept !== null && this.#isFresh(kept)) return this.#remember(origin, kept);
    const answer = await this.#fetch(origin, signal, via);
    if (via !== undefined && !this.#isForAll(key, origin, answer)) return this.#applyToProxy(key, origin, answer, kept);
    if (answer.body === null) return this.#rulesDuring(this.#beginOutage(origin, answer, kept));
    for (const recovered of [origin, key]) this.#outages.delete(recovered);
    this.#doubted.delete(origin);
    this.#missing.delete(origin);
    const { store, clock, productToken } = this.#options;
    const robots = parseRobots(answer.body, productToken, robotsUrl(origin));
    const now = clock.now();
    // Stored before it takes effect: after a crash, the next owner of the site must know its delay.
    await store.keepRobots(
      { origin, site: siteOf(origin), body: answer.body, crawlDelayMs: millisecondsOf(robots), fetchedAt: now },
      { staleBefore: now - FRESH_MS, uselessBefore: now - USABLE_MS, mostBytes: MAX_STORED_BYTES },
    );
    return this.#remember(origin, { robots, fetchedAt: now });
  }

  /** Whether a response through a proxy applies globally. */
  #isForAll(key: string, origin: string, answer: Read | Unreadable): boolean {
    if (answer.body === null || answer.suspicion !== null) return false;
    if (answer.status < 300) return true;
    // Two independent proxies must agree that there is none.
    const first = this.#missing.get(origin);
    if (first === undefined) putBounded(this.#missing, origin, key);
    return first !== undefined && first !== key;
  }

  /** Handles a response through a proxy that applies at most to pages through that proxy. */
  #applyToProxy(key: string, origin: string, answer: Read | Unreadable, kept: Copy | null): Robots {
    const why = answer.body === null ? answer.why : (answer.suspicion ?? "there is none");
    const isMissing = answer.body !== null && answer.suspicion === null;
    const isFirst = !isMissing && !this.#doubted.has(origin);
    if (!isMissing) putBounded(this.#doubted, origin, true);
    if (kept !== null || answer.body === null) {
      // The first refusal is not charged to the site: another proxy may succeed.
      const cause = answer.body === null && !isFirst && answer.cause.isSiteWide ? answer.cause : UNKNOWN_CAUSE;
      const restMs = answer.body === null ? answer.restMs : 0;
      return this.#rulesDuring(
        this.#beginOutage(key, { body: null, why: `${why}, through a proxy`, cause, restMs }, kept),
      );
    }
    if (isFirst)
      throw new FetchFailure(
        "robots_unreachable",
        `the site's robots.txt could not be read through the proxy (${why}), so nothing is fetched yet`,
      );
    const { clock, productToken } = this.#options;
    const copy = { robots: parseRobots(answer.body, productToken, robotsUrl(origin)), fetchedAt: clock.now() };
    putBounded(this.#copiesThrough, key, copy);
    return copy.robots;
  }

  async #storedCopy(origin: string): Promise<Copy | null> {
    const { store, clock, productToken } = this.#options;
    const stored = this.#copies.has(origin) ? null : await store.robots(origin);
    const copy =
      stored === null
        ? this.#copies.get(origin)
        : { robots: parseRobots(stored.body, productToken, robotsUrl(origin)), fetchedAt: stored.fetchedAt };
    return copy === undefined || clock.now() - copy.fetchedAt >= USABLE_MS ? null : copy;
  }

  async #remember(origin: string, copy: Copy): Promise<Robots> {
    const site = siteOf(origin);
    const delay = (await this.#options.store.site(site))?.crawlDelayMs ?? millisecondsOf(copy.robots);
    putBounded(this.#delays, site, delay ?? 0);
    putBounded(this.#copies, origin, copy);
    return copy.robots;
  }

  async #fetch(origin: string, signal: AbortSignal, via: Upstream | undefined): Promise<Read | Unreadable> {
    const { http, clock } = this.#options;
    const sink = new PrefixSink();
    try {
      const url = robotsUrl(origin);
      await http.fetch({ url, maxRedirects: 10, signal, ...(via === undefined ? {} : { via }) }, sink);
    } catch (error) {
      // A failure through a proxy says nothing about the origin: another proxy may succeed.
      if (error instanceof FetchFailure && via !== undefined) throw error;
      // A forbidden host has no rules to wait for.
      if (error instanceof FetchFailure && isForbidden(error, origin)) throw error;
      if (error instanceof FetchFailure) {
        const { message: why, reason, code } = error.failure;
        return { body: null, why, cause: { isSiteWide: code === "network" || code === "timeout", reason }, restMs: 0 };
      }
      if (error !== READ_ENOUGH) throw error;
    }
    const { status, headers } = sink.head!;
    if (status >= 500 || status === 429) {
      const retryAfterMs = parseRetryAfter(headers["retry-after"], clock.now());
      const what = classifyStatus(status, retryAfterMs);
      const isSiteWide = retryAfterMs !== null && what !== null && dispositionOf(what) === "rate_limit";
      const cause = { isSiteWide, reason: what?.reason ?? null, httpStatus: status };
      const restMs = Math.min(retryAfterMs ?? 0, MAX_REST_MS);
      return { body: null, why: `the server answered ${status}`, cause, restMs };
    }
    if (status < 200 || status >= 300) {
      const isMissing = status === 404 || status === 410;
      return { body: new Uint8Array(), status, suspicion: isMissing ? null : `the server answered ${status}` };
    }
    const body = sink.body();
    return {
      body,
      status,
      suspicion: looksLikeRules(body, headers["content-type"]) ? null : "it is an HTML page, not plain text",
    };
  }

  #beginOutage(key: string, { why, cause, restMs }: Unreadable, old: Copy | null): Outage {
    const { clock, backoff } = this.#options;
    const times = (this.#outages.get(key)?.times ?? 0) + 1;
    const until = clock.monotonic() + Math.max(siteHold(backoff, times - 1), restMs);
    const outage = { why, cause, times, until, old };
    putBounded(this.#outages, key, outage);
    return outage;
  }

  #rulesDuring({ why, cause, until, old }: Outage): Robots {
    if (old !== null) return old.robots;
    const message = `the site's robots.txt could not be read (${why}), so nothing is fetched yet`;
    const retryAfterMs = Math.max(0, Math.ceil(until - this.#options.clock.monotonic()));
    const { isSiteWide, reason, httpStatus } = cause;
    if (isSiteWide && reason !== null)
      throw new FetchFailure(reason, message, { retryAfterMs, ...(httpStatus === undefined ? {} : { httpStatus }) });
    throw new FetchFailure("robots_unreachable", message, {
      retryAfterMs,
      ...(reason === null ? {} : { because: reason }),
    });
  }
}

/** Whether the origin itself is forbidden, not a redirect target of its robots.txt. */
function isForbidden({ failure: { code, message } }: FetchFailure, origin: string): boolean {
  return code === "forbidden_target" && message.includes(new URL(origin).hostname);
}

/** Each proxy fetches separately until the origin's rules were read. */
function keyOf(origin: string, via: Upstream | undefined): string {
  return via === undefined ? origin : `${origin} ${JSON.stringify(via)}`;
}

function robotsUrl(origin: string): string {
  return `${origin}/robots.txt`;
}

const HTML_START = /^\s*</;

function looksLikeRules(body: Uint8Array, contentType: unknown): boolean {
  const isText = typeof contentType !== "string" || contentType.trim().toLowerCase().startsWith("text/");
  return isText && !HTML_START.test(robotsText(body.subarray(0, 1_000)));
}

function millisecondsOf(robots: Robots): number | null {
  const seconds = crawlDelaySeconds(robots);
  return seconds === null ? null : Math.ceil(seconds * 1000);
}

const READ_ENOUGH = new Error("enough was read");

/** Reads at most ROBOTS_BYTES. */
class PrefixSink implements BodySink {
  head: ResponseHead | null = null;
  readonly #chunks: Buffer[] = [];
  #size = 0;

  start(head: ResponseHead): void {
    this.head = head;
  }

  write(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size >= ROBOTS_BYTES) throw READ_ENOUGH;
  }

  body(): Uint8Array {
    return Buffer.concat(this.#chunks).subarray(0, ROBOTS_BYTES);
  }
}

/** Removes the oldest entries first. */
function putBounded<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  if (map.size >= MAX_ORIGINS) map.delete(map.keys().next().value!);
  map.set(key, value);
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error);
    signal.addEventListener("abort", abort, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
