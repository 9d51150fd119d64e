import type { Random } from "../../../src/base/random.ts";
import { type Failure, failure } from "../../../src/domain/run/failure.ts";
import type { Lane } from "./lane.ts";
import { RULES } from "./plan.ts";
import type { Timeline } from "./timeline.ts";

/** Of a hundred requests so many fail and are tried again. */
const FAILING = 0.02;
/** Every so manieth site refuses requests now and then, and asks to be left alone. */
const REFUSING_SITES = 25;
const REFUSING = 0.01;
const REFUSED_FOR_MS = 3000;

export interface Answer {
  afterMs: number;
  failure: Failure | null;
}

/** The sites, as they see the cluster: how many requests at once, how close to each other, from whomever. */
export class Web {
  readonly #timeline: Timeline;
  readonly #random: Random;
  readonly #latencyMs: number;
  readonly #underWay = new Map<Lane, number>();
  readonly #lastStart = new Map<Lane, number>();
  readonly violations: string[] = [];
  requests = 0;
  /** Most at once at a site, as a part of what it allows. */
  fullest = 0;

  constructor(timeline: Timeline, random: Random, latencyMs: number) {
    this.#timeline = timeline;
    this.#random = random;
    this.#latencyMs = latencyMs;
  }

  ask(lane: Lane): Answer {
    this.requests += 1;
    this.#watch(lane);
    const random = this.#random;
    // Between a third and three times the middle, most of them near it.
    const afterMs = this.#latencyMs * 3 ** (random.next() + random.next() - 1);
    if (lane.index % REFUSING_SITES === 0 && random.next() < REFUSING) {
      const more = { httpStatus: 429, retryAfterMs: REFUSED_FOR_MS };
      return { afterMs, failure: failure("http_too_many_requests", "too many", more) };
    }
    if (random.next() < FAILING) return { afterMs, failure: failure("connection_reset", "cut") };
    return { afterMs, failure: null };
  }

  /** Requests of one that ended, was killed, or cannot close its sockets because it is frozen. */
  gone(lane: Lane, count = 1): void {
    this.#underWay.set(lane, (this.#underWay.get(lane) ?? 0) - count);
  }

  /** It thawed in time, and has them still. */
  back(lane: Lane, count: number): void {
    this.gone(lane, -count);
  }

  #watch(lane: Lane): void {
    const now = this.#timeline.now();
    const most = lane.site.maxConcurrency ?? RULES.maxPerSite;
    const atOnce = (this.#underWay.get(lane) ?? 0) + 1;
    this.#underWay.set(lane, atOnce);
    this.fullest = Math.max(this.fullest, atOnce / most);
    if (atOnce > most) this.violations.push(`${atOnce} requests at once to ${lane.site.site}, ${most} are allowed`);
    const since = now - (this.#lastStart.get(lane) ?? Number.NEGATIVE_INFINITY);
    const delay = lane.site.minDelayMs ?? RULES.minDelayMs;
    if (since < delay - 0.001)
      this.violations.push(`${lane.site.site} was asked again after ${since} ms, not ${delay}`);
    if (lane.site.holdUntil > now) this.violations.push(`${lane.site.site} was asked although it is to be left alone`);
    this.#lastStart.set(lane, now);
  }
}
