import { type Clock, sleep } from "../../../base/clock.ts";

/**
 * The delay between two pages of a crawl. Such a crawl fetches one page at a time, so its task waits in place: no other
 * page of the crawl could start instead.
 */
export class CrawlPause {
  readonly #clock: Clock;
  readonly #ms: number;
  #lastAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, ms: number) {
    this.#clock = clock;
    this.#ms = ms;
  }

  /** Milliseconds until the next page. */
  get leftMs(): number {
    return Math.max(0, this.#lastAt + this.#ms - this.#clock.monotonic());
  }

  async next(signal: AbortSignal): Promise<void> {
    if (this.#ms === 0) return;
    if (this.leftMs > 0) await sleep(this.#clock, this.leftMs, signal);
    signal.throwIfAborted();
    this.#lastAt = this.#clock.monotonic();
  }
}
