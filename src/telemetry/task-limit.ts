import type { Clock } from "../base/clock.ts";

/** Allows so many tasks a second, and as many at once; 0: any number. */
export class TaskLimit {
  readonly #perSecond: number;
  readonly #clock: Clock;
  #left: number;
  #filledMs: number;

  constructor(perSecond: number, clock: Clock) {
    this.#perSecond = perSecond;
    this.#clock = clock;
    this.#left = perSecond;
    this.#filledMs = clock.monotonic();
  }

  take(): boolean {
    if (this.#perSecond === 0) return true;
    this.#fill();
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }

  #fill(): void {
    const nowMs = this.#clock.monotonic();
    this.#left = Math.min(this.#perSecond, this.#left + ((nowMs - this.#filledMs) * this.#perSecond) / 1000);
    this.#filledMs = nowMs;
  }
}
