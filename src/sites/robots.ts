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
  /** How long an origin that could not be asked is left alone: the base, then twice as long each time. */
  backoff: BackoffRule;
}

interface Copy {
  robots: Robots;
  fetchedAt: number;
}

/** What pages fail with as long as robots.txt cannot be read. */
interface Cause {
  /**
   * No answer, or one that asks for patience, is about the whole site, and pages fail with that. Every other answer is one
   * of robots.txt, and pages fail as robots_unreachable.
   */
  isOfSite: boolean;
  /** Null: not known, as through a proxy. */
  reason: FailureReason | null;
  httpStatus?: number;
}

const UNKNOWN_CAUSE: Cause = { isOfSite: false, reason: null };

/** An origin that could not be asked. */
interface Outage {
  why: string;
  cause: Cause;
  times: number;
  /** By the monotonic clock. */
  until: number;
  /** The rules that apply during the outage. */
  old: Copy | null;
}

/** A robots.txt that could not be had. */
interface Unread extends Pick<Outage, "why" | "cause"> {
  body: null;
  /** How long it asks to be left alone. */
  restMs: number;
}

interface Read {
  /** Empty when there is none. */
  body: Uint8Array;
  status: number;
  /** Why it may be the word of a proxy, or meant for its address alone; null: it reads like the site's own rules. */
  odd: string | null;
}

/** A question that is under way, and how many wait for its answer. */
interface Asking {
  answer: Promise<Robots>;
  waiting: number;
  stop: AbortController;
}

const BELIEVED_MS = 24 * 3_600_000;
/** How long the last good copy is used while the server is unavailable. */
const KEPT_MS = 30 * 24 * 3_600_000;
const LONGEST_REST_MS = 3_600_000;
/** In the store. Most files have a few hundred bytes; but a site may send as much as is read of one. */
const MOST_BYTES = 256 * 1024 * 1024;
/** In memory; the store has the others. */
const MOST_ORIGINS = 1_000;

/**
 * robots.txt by RFC 9309: fetched once a day per origin, also across restarts; a 4xx allows everything; while the
 * server is unavailable the last good copy applies, and without one nothing is allowed. Through a proxy, only rules
 * that were read apply to everybody. Every other answer may be the proxy's own, or meant for its address: the first one
 * at an origin sends the page through another proxy, and what is accepted in the end applies to pages through that
 * proxy.
 */
export class RobotsGate {
  readonly #options: RobotsGateOptions;
  readonly #copies = new Map<string, Copy>();
  /** By origin and proxy: answers that hold for pages through that proxy alone. */
  readonly #copiesThrough = new Map<string, Copy>();
  /** By origin; through a proxy by origin and proxy. */
  readonly #outages = new Map<string, Outage>();
  /** Origins for which a proxy got no rules, and no other route has yet. */
  readonly #doubted = new Map<string, true>();
  /** Through which proxy it was first said that an origin has no robots.txt. */
  readonly #missing = new Map<string, string>();
  readonly #asking = new Map<string, Asking>();
  /** By site, as its origins share a lane. */
  readonly #delays = new Map<string, number>();

  constructor(options: RobotsGateOptions) {
    this.#options = options;
  }

  /**
   * Throws a FetchFailure when the page is disallowed; otherwise returns the crawl delay in milliseconds. `via` is the
   * proxy for fetching robots.txt, if necessary.
   */
  async check(url: string, signal: AbortSignal, via?: Upstream): Promise<number> {
    const robots = await this.#of(new URL(url).origin, signal, via);
    if (!isAllowed(robots, url)) throw new FetchFailure("robots_disallowed", "the site's robots.txt disallows it");
    return this.#delays.get(siteOf(url)) ?? millisecondsOf(robots) ?? 0;
  }

  /** The sitemaps that the origin's robots.txt names. Throws a FetchFailure when it cannot be read. */
  async sitemaps(origin: string, signal: AbortSignal, via?: Upstream): Promise<readonly string[]> {
    return sitemaps(await this.#of(new URL(origin).origin, signal, via));
  }

  /** Whether a redirect to this address may be followed, as far as is known without asking; null: ask. */
  mayFollow(url: URL, via?: Upstream): boolean | null {
    const question = questionOf(url.origin, via);
    const copy = this.#known(url.origin, question);
    if (copy !== null) return isAllowed(copy.robots, url.href);
    const outage = this.#outages.get(question);
    if (outage === undefined || outage.old === null || outage.until <= this.#options.clock.monotonic()) return null;
    return isAllowed(outage.old.robots, url.href);
  }

  async #of(origin: string, signal: AbortSignal, via: Upstream | undefined): Promise<Robots> {
    signal.throwIfAborted();
    const question = questionOf(origin, via);
    const copy = this.#known(origin, question);
    if (copy !== null) return copy.robots;
    const outage = this.#outages.get(question);
    if (outage !== undefined && outage.until > this.#options.clock.monotonic()) return this.#during(outage);
    const asking = this.#asking.get(question) ?? this.#begin(question, origin, via);
    asking.waiting += 1;
    try {
      return await unlessAborted(asking.answer, signal);
    } finally {
      asking.waiting -= 1;
      // An aborted caller leaves at once; the request itself is aborted when no caller is left.
      if (asking.waiting === 0) {
        if (this.#asking.get(question) === asking) this.#asking.delete(question);
        asking.stop.abort();
      }
    }
  }

  /** The rules that apply now without a request; the origin's own come before those from a proxy. */
  #known(origin: string, question: string): Copy | null {
    const copies = [this.#copies.get(origin), this.#copiesThrough.get(question)];
    return copies.find((copy) => copy !== undefined && this.#isBelieved(copy)) ?? null;
  }

  /** A clock that was set back must not make a copy last. */
  #isBelieved({ fetchedAt }: Copy): boolean {
    const age = this.#options.clock.now() - fetchedAt;
    return age >= 0 && age < BELIEVED_MS;
  }

  #begin(question: string, origin: string, via: Upstream | undefined): Asking {
    const stop = new AbortController();
    const asking: Asking = { answer: this.#learn(question, origin, stop.signal, via), waiting: 0, stop };
    this.#asking.set(question, asking);
    return asking;
  }

  async #learn(question: string, origin: string, signal: AbortSignal, via: Upstream | undefined): Promise<Robots> {
    const kept = await this.#kept(origin);
    if (kept !== null && this.#isBelieved(kept)) return this.#remember(origin, kept);
    const answer = await this.#ask(origin, signal, via);
    if (via !== undefined && !this.#isForAll(question, origin, answer))
      return this.#forOne(question, origin, answer, kept);
    if (answer.body === null) return this.#during(this.#leaveAlone(origin, answer, kept));
    for (const key of [origin, question]) this.#outages.delete(key);
    this.#doubted.delete(origin);
    this.#missing.delete(origin);
    const { store, clock, productToken } = this.#options;
    const robots = parseRobots(answer.body, productToken, addressOf(origin));
    const now = clock.now();
    // Stored before anything acts on it: the next owner of the site after a crash must know its delay.
    await store.keepRobots(
      { origin, site: siteOf(origin), body: answer.body, crawlDelayMs: millisecondsOf(robots), fetchedAt: now },
      { staleBefore: now - BELIEVED_MS, uselessBefore: now - KEPT_MS, mostBytes: MOST_BYTES },
    );
    return this.#remember(origin, { robots, fetchedAt: now });
  }

  /** Whether an answer through a proxy applies to everybody. */
  #isForAll(question: string, origin: string, answer: Read | Unread): boolean {
    if (answer.body === null || answer.odd !== null) return false;
    if (answer.status < 300) return true;
    // Two proxies that know nothing of each other say that there is none.
    const first = this.#missing.get(origin);
    if (first === undefined) putBounded(this.#missing, origin, question);
    return first !== undefined && first !== question;
  }

  /** An answer through a proxy that applies at most to pages through that proxy. */
  #forOne(question: string, origin: string, answer: Read | Unread, kept: Copy | null): Robots {
    const why = answer.body === null ? answer.why : (answer.odd ?? "there is none");
    const isMissing = answer.body !== null && answer.odd === null;
    const isFirst = !isMissing && !this.#doubted.has(origin);
    if (!isMissing) putBounded(this.#doubted, origin, true);
    if (kept !== null || answer.body === null) {
      // The first refusal does not count as the site's: another proxy may be accepted.
      const cause = answer.body === null && !isFirst && answer.cause.isOfSite ? answer.cause : UNKNOWN_CAUSE;
      const restMs = answer.body === null ? answer.restMs : 0;
      return this.#during(
        this.#leaveAlone(question, { body: null, why: `${why}, through a proxy`, cause, restMs }, kept),
      );
    }
    if (isFirst)
      throw new FetchFailure(
        "robots_unreachable",
        `the site's robots.txt could not be read through the proxy (${why}), so nothing is allowed yet`,
      );
    const { clock, productToken } = this.#options;
    const copy = { robots: parseRobots(answer.body, productToken, addressOf(origin)), fetchedAt: clock.now() };
    putBounded(this.#copiesThrough, question, copy);
    return copy.robots;
  }

  async #kept(origin: string): Promise<Copy | null> {
    const { store, clock, productToken } = this.#options;
    const stored = this.#copies.has(origin) ? null : await store.robots(origin);
    const copy =
      stored === null
        ? this.#copies.get(origin)
        : { robots: parseRobots(stored.body, productToken, addressOf(origin)), fetchedAt: stored.fetchedAt };
    return copy === undefined || clock.now() - copy.fetchedAt >= KEPT_MS ? null : copy;
  }

  async #remember(origin: string, copy: Copy): Promise<Robots> {
    const site = siteOf(origin);
    const delay = (await this.#options.store.site(site))?.crawlDelayMs ?? millisecondsOf(copy.robots);
    putBounded(this.#delays, site, delay ?? 0);
    putBounded(this.#copies, origin, copy);
    return copy.robots;
  }

  /** The file, empty when there is none; or why it could not be had. */
  async #ask(origin: string, signal: AbortSignal, via: Upstream | undefined): Promise<Read | Unread> {
    const { http, clock } = this.#options;
    const sink = new Beginning();
    try {
      const url = addressOf(origin);
      await http.fetch({ url, maxRedirects: 10, signal, ...(via === undefined ? {} : { via }) }, sink);
    } catch (error) {
      // No answer through a proxy says nothing about the origin: another proxy may get one.
      if (error instanceof FetchFailure && via !== undefined) throw error;
      // A host that may not be asked at all has no rules to wait for.
      if (error instanceof FetchFailure && isForbidden(error, origin)) throw error;
      if (error instanceof FetchFailure) {
        const { message: why, reason, code } = error.failure;
        return { body: null, why, cause: { isOfSite: code === "network" || code === "timeout", reason }, restMs: 0 };
      }
      if (error !== ENOUGH) throw error;
    }
    const { status, headers } = sink.head!;
    if (status >= 500 || status === 429) {
      const retryAfterMs = parseRetryAfter(headers["retry-after"], clock.now());
      const what = classifyStatus(status, retryAfterMs);
      const isOfSite = retryAfterMs !== null && what !== null && dispositionOf(what) === "rate_limit";
      const cause = { isOfSite, reason: what?.reason ?? null, httpStatus: status };
      const restMs = Math.min(retryAfterMs ?? 0, LONGEST_REST_MS);
      return { body: null, why: `the server answered ${status}`, cause, restMs };
    }
    if (status < 200 || status >= 300) {
      const isMissing = status === 404 || status === 410;
      return { body: new Uint8Array(), status, odd: isMissing ? null : `the server answered ${status}` };
    }
    const body = sink.body();
    return { body, status, odd: looksLikeRules(body, headers["content-type"]) ? null : "it is a page, not a text" };
  }

  #leaveAlone(question: string, { why, cause, restMs }: Unread, old: Copy | null): Outage {
    const { clock, backoff } = this.#options;
    const times = (this.#outages.get(question)?.times ?? 0) + 1;
    const until = clock.monotonic() + Math.max(siteHold(backoff, times - 1), restMs);
    const outage = { why, cause, times, until, old };
    putBounded(this.#outages, question, outage);
    return outage;
  }

  #during({ why, cause, until, old }: Outage): Robots {
    if (old !== null) return old.robots;
    const message = `the site's robots.txt could not be read (${why}), so nothing is allowed yet`;
    const retryAfterMs = Math.max(0, Math.ceil(until - this.#options.clock.monotonic()));
    const { isOfSite, reason, httpStatus } = cause;
    if (isOfSite && reason !== null)
      throw new FetchFailure(reason, message, { retryAfterMs, ...(httpStatus === undefined ? {} : { httpStatus }) });
    throw new FetchFailure("robots_unreachable", message, {
      retryAfterMs,
      ...(reason === null ? {} : { because: reason }),
    });
  }
}

/** Of the origin itself, and not of a place that its robots.txt redirects to. */
function isForbidden({ failure: { code, message } }: FetchFailure, origin: string): boolean {
  return code === "forbidden_target" && message.includes(new URL(origin).hostname);
}

/** Each proxy asks for itself until the origin's rules were read. */
function questionOf(origin: string, via: Upstream | undefined): string {
  return via === undefined ? origin : `${origin} ${JSON.stringify(via)}`;
}

function addressOf(origin: string): string {
  return `${origin}/robots.txt`;
}

const PAGE_BEGINS = /^\s*</;

function looksLikeRules(body: Uint8Array, contentType: unknown): boolean {
  const isText = typeof contentType !== "string" || contentType.trim().toLowerCase().startsWith("text/");
  return isText && !PAGE_BEGINS.test(robotsText(body.subarray(0, 1_000)));
}

function millisecondsOf(robots: Robots): number | null {
  const seconds = crawlDelaySeconds(robots);
  return seconds === null ? null : Math.ceil(seconds * 1000);
}

const ENOUGH = new Error("enough was read");

/** Reads as much as counts, however long the file is. */
class Beginning implements BodySink {
  head: ResponseHead | null = null;
  readonly #chunks: Buffer[] = [];
  #size = 0;

  start(head: ResponseHead): void {
    this.head = head;
  }

  write(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size >= ROBOTS_BYTES) throw ENOUGH;
  }

  body(): Uint8Array {
    return Buffer.concat(this.#chunks).subarray(0, ROBOTS_BYTES);
  }
}

/** Removes the oldest entries first. */
function putBounded<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  if (map.size >= MOST_ORIGINS) map.delete(map.keys().next().value!);
  map.set(key, value);
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error);
    signal.addEventListener("abort", abort, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
