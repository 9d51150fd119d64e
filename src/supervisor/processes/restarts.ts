/** When what died is started again: soon at first, ever later, and rarely when that does not help. */
export interface Pace {
  firstMs: number;
  longestMs: number;
  /** So long in good health, and earlier deaths are forgotten. */
  settledMs: number;
  /** More deaths than this within the window are a crash loop. */
  deaths: number;
  windowMs: number;
  /** How often it is tried in a crash loop. */
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
  /** Of one crash loop there is one report. */
  #looping = false;

  constructor(pace: Pace) {
    this.#pace = pace;
  }

  /** How long to wait, now that it died. `now` is monotonic. */
  died(now: number): { waitMs: number; crashLoop: boolean } {
    const { firstMs, longestMs, deaths, windowMs, loopMs } = this.#pace;
    this.#deaths = [...this.#deaths.filter((at) => now - at < windowMs), now];
    this.#looping ||= this.#deaths.length > deaths;
    if (this.#looping) return { waitMs: loopMs, crashLoop: true };
    const waitMs = Math.min(longestMs, firstMs * 2 ** this.#step);
    this.#step += 1;
    return { waitMs, crashLoop: false };
  }

  /** It has been healthy for this long. True when that ends a crash loop. */
  well(forMs: number): boolean {
    if (forMs < this.#pace.settledMs) return false;
    const ended = this.#looping;
    this.#step = 0;
    this.#deaths = [];
    this.#looping = false;
    return ended;
  }
}
