import { Latency } from "./latency.ts";

/** Concurrency of an unknown site until its latency is known; then each good answer allows one more. */
const INITIAL_CONCURRENCY = 4;
/** Good answers per additional request, as a multiple of the current concurrency: after a refusal, and after slowness. */
const ANSWERS_PER_STEP_AFTER_REFUSAL = 10;
const ANSWERS_PER_STEP_AFTER_SLOWNESS = 2;
const MIN_SPACING_MS = 250;
const SLOWNESS_FACTOR = 0.75;

/**
 * Finds the concurrency that a site tolerates: one request at a time after a refusal, fewer when answers are slower than
 * usual, then step by step more again. It never exceeds the configured limit.
 */
export class AdaptiveConcurrency {
  /** Infinity: the configured limit alone applies. */
  #limit: number;
  /** Slow-start threshold: up to here each good answer allows one more; beyond, it takes many. */
  #slowStartThreshold = Number.POSITIVE_INFINITY;
  #goodAnswers = 0;
  #answersPerStep = ANSWERS_PER_STEP_AFTER_REFUSAL;
  #spacingMs = 0;
  readonly #maxSpacingMs: number;
  readonly #latency = new Latency();

  /** Each of the site's `shards` has an instance of its own. */
  constructor(maxSpacingMs: number, shards = 1) {
    this.#limit = Math.max(1, Math.floor(INITIAL_CONCURRENCY / shards));
    this.#maxSpacingMs = maxSpacingMs;
  }

  /** Pause between two starts, for a site that refuses even one at a time. */
  get spacingMs(): number {
    return this.#spacingMs;
  }

  atOnce(limit: number): number {
    return Math.min(limit, this.#limit);
  }

  /**
   * One at a time after a refusal, as TCP does, and spaced out if that is still too much. Without this, a site that allows
   * one request a second refused nine of ten: of 100 pages 45 ran out of retries, in 4.5 hours; with it all 100 take three
   * minutes.
   */
  refused(atOnce: number): void {
    if (atOnce <= 1) this.#spacingMs = Math.min(this.#maxSpacingMs, Math.max(MIN_SPACING_MS, this.#spacingMs * 2));
    this.#limit = 1;
    this.#slowStartThreshold = Math.max(1, Math.floor(atOnce / 2));
    this.#answersPerStep = ANSWERS_PER_STEP_AFTER_REFUSAL;
    this.#goodAnswers = 0;
    this.#latency.startOver(0);
  }

  /**
   * A good answer after `ms`. Null: this one was not measured; undefined: answers of this kind never are, so there is no
   * latency to wait for.
   */
  answered(ms: number | null | undefined, limit: number, inFlight: number): void {
    if (typeof ms === "number" && this.#slows(ms, limit, inFlight)) return;
    if (this.#limit === Number.POSITIVE_INFINITY) return;
    if (this.#spacingMs > 0) {
      this.#spacingMs = this.#spacingMs < MIN_SPACING_MS / 2 ? 0 : Math.floor(this.#spacingMs * 0.9);
      return;
    }
    // The duration of a handler says nothing about the site's latency.
    if (ms === undefined && this.#slowStartThreshold === Number.POSITIVE_INFINITY) this.#limit = limit;
    else if (typeof ms === "number" && !this.#latency.isKnown) return;
    if (!this.#latency.isCalm) return;
    this.#goodAnswers += 1;
    if (this.#limit >= this.#slowStartThreshold && this.#goodAnswers < this.#answersPerStep * this.#limit) return;
    this.#goodAnswers = 0;
    this.#limit = this.#limit + 1 >= limit ? Number.POSITIVE_INFINITY : this.#limit + 1;
  }

  timedOut(limit: number, inFlight: number): void {
    this.#slows(null, limit, inFlight);
  }

  #slows(ms: number | null, limit: number, inFlight: number): boolean {
    const atOnce = this.atOnce(limit);
    if (!this.#latency.add(ms, { atOnce, isReduced: this.#limit < limit })) return false;
    // One request at a time is not our load: this is the site's new normal latency.
    if (atOnce === 1) this.#latency.acceptAsBaseline();
    this.#limit = Math.max(1, Math.floor(atOnce * SLOWNESS_FACTOR));
    this.#slowStartThreshold = 0;
    this.#answersPerStep = ANSWERS_PER_STEP_AFTER_SLOWNESS;
    this.#goodAnswers = 0;
    this.#latency.startOver(inFlight);
    return true;
  }
}
