import { Latency } from "./latency.ts";

/** Initial concurrency of an unknown site until its latency is known; then each good answer allows one more. */
const AT_FIRST = 4;
/** Good answers for one more at once, as a multiple of how many there are: after refusals, and after slowness. */
const AFTER_REFUSAL = 10;
const AFTER_SLOWNESS = 2;
const LEAST_SPACING_MS = 250;
const FEWER = 0.75;

/**
 * How many requests at once a site bears, found out from below: one after it refused, fewer when it answers more slowly
 * than it usually does, and step by step more again. The configured limit is never exceeded.
 */
export class AdaptiveConcurrency {
  /** At most this many at once; Infinity: as many as the limit says. */
  #most: number;
  /** Up to here each good answer allows one more; beyond, many are needed for it. */
  #quickUpTo = Number.POSITIVE_INFINITY;
  #good = 0;
  #goodPerStep = AFTER_REFUSAL;
  #spacingMs = 0;
  readonly #longestSpacingMs: number;
  readonly #latency = new Latency();

  /** `shards` is how many do the same for their part of the site. */
  constructor(longestSpacingMs: number, shards = 1) {
    this.#most = Math.max(1, Math.floor(AT_FIRST / shards));
    this.#longestSpacingMs = longestSpacingMs;
  }

  /** Pause between two starts, for a site that refuses even one at a time. */
  get spacingMs(): number {
    return this.#spacingMs;
  }

  atOnce(limit: number): number {
    return Math.min(limit, this.#most);
  }

  /**
   * One at a time after a refusal, as TCP does it, and slower when that was too much. A site that allows one request a
   * second would otherwise refuse nine of every ten: of 100 pages 45 ran out of patience, in 4.5 hours; like this all
   * are done in three minutes.
   */
  refused(atOnce: number): void {
    if (atOnce <= 1)
      this.#spacingMs = Math.min(this.#longestSpacingMs, Math.max(LEAST_SPACING_MS, this.#spacingMs * 2));
    this.#most = 1;
    this.#quickUpTo = Math.max(1, Math.floor(atOnce / 2));
    this.#goodPerStep = AFTER_REFUSAL;
    this.#good = 0;
    this.#latency.startOver(0);
  }

  /**
   * A good answer; `ms` is how long the site took for it. Null: this one was not measured, undefined: none of its kind is,
   * so that there is nothing to wait for.
   */
  answered(ms: number | null | undefined, limit: number, underWay: number): void {
    if (typeof ms === "number" && this.#slows(ms, limit, underWay)) return;
    if (this.#most === Number.POSITIVE_INFINITY) return;
    if (this.#spacingMs > 0) {
      this.#spacingMs = this.#spacingMs < LEAST_SPACING_MS / 2 ? 0 : Math.floor(this.#spacingMs * 0.9);
      return;
    }
    // A handler that takes long for reasons of its own says nothing about the site's latency.
    if (ms === undefined && this.#quickUpTo === Number.POSITIVE_INFINITY) this.#most = limit;
    else if (typeof ms === "number" && !this.#latency.isKnown) return;
    if (!this.#latency.isCalm) return;
    this.#good += 1;
    if (this.#most >= this.#quickUpTo && this.#good < this.#goodPerStep * this.#most) return;
    this.#good = 0;
    this.#most = this.#most + 1 >= limit ? Number.POSITIVE_INFINITY : this.#most + 1;
  }

  timedOut(limit: number, underWay: number): void {
    this.#slows(null, limit, underWay);
  }

  #slows(ms: number | null, limit: number, underWay: number): boolean {
    const atOnce = this.atOnce(limit);
    if (!this.#latency.add(ms, { atOnce, isEased: this.#most < limit })) return false;
    // With one at a time it is not our doing: that is how long the site takes now.
    if (atOnce === 1) this.#latency.acceptAsUsual();
    this.#most = Math.max(1, Math.floor(atOnce * FEWER));
    this.#quickUpTo = 0;
    this.#goodPerStep = AFTER_SLOWNESS;
    this.#good = 0;
    this.#latency.startOver(underWay);
    return true;
  }
}
