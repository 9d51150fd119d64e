/** Restart back-off: short at first, growing, and slow in a crash loop. */
export interface Pace {
  firstMs: number;
  longestMs: number;
  /** After this long in good health, earlier deaths are forgotten. */
  settledMs: number;
  /** More deaths than this within the window are a crash loop. */
  deaths: number;
  windowMs: number;
  /** Interval of restarts in a crash loop. */
  loopMs: number;
}

export const PACE: Pace = {
  firstMs: 500,
  longestMs: 30_000,
  settledMs: 60_000,
  deaths: 5,
  windowMs: 60_000,
  loopMs: 60_000,
};

export class Restarts {
  readonly #pace: Pace;
  #step = 0;
  #deaths: number[] = [];
  /** A crash loop is reported once. */
  #looping = false;

  constructor(pace: Pace) {
    this.#pace = pace;
  }

  /** The delay before the next start. `now` is monotonic. */
  died(now: number): { waitMs: number; crashLoop: boolean } {
    const { firstMs, longestMs, deaths, windowMs, loopMs } = this.#pace;
    this.#deaths = [...this.#deaths.filter((at) => now - at < windowMs), now];
    this.#looping ||= this.#deaths.length > deaths;
    if (this.#looping) return { waitMs: loopMs, crashLoop: true };
    const waitMs = Math.min(longestMs, firstMs * 2 ** this.#step);
    this.#step += 1;
    return { waitMs, crashLoop: false };
  }

  /** Called while it is healthy. True: this ends a crash loop. */
  well(forMs: number): boolean {
    if (forMs < this.#pace.settledMs) return false;
    const ended = this.#looping;
    this.#step = 0;
    this.#deaths = [];
    this.#looping = false;
    return ended;
  }
}
