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

  async next(signal: AbortSignal): Promise<void> {
    if (this.#ms === 0) return;
    const left = this.#lastAt + this.#ms - this.#clock.monotonic();
    if (left > 0) await sleep(this.#clock, left, signal);
    signal.throwIfAborted();
    this.#lastAt = this.#clock.monotonic();
  }
}
