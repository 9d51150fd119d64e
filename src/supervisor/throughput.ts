import type { Clock } from "../base/clock.ts";

const WINDOW_MS = 10_000;

/** Tasks that ended in this process: total, and recent rate per second. */
export class Throughput {
  readonly #clock: Clock;
  readonly #counts = { completed: 0, failed: 0 };
  /** Totals with their times, oldest first: enough for the window. */
  readonly #readings: { at: number; ended: number }[];

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#readings = [{ at: clock.monotonic(), ended: 0 }];
  }

  note(end: "completed" | "failed"): void {
    this.#counts[end] += 1;
  }

  read(): { completed: number; failed: number; tasksPerSecond: number } {
    const { completed, failed } = this.#counts;
    const now = { at: this.#clock.monotonic(), ended: completed + failed };
    // Keeps one reading from before the window as its baseline.
    while ((this.#readings[1]?.at ?? now.at) <= now.at - WINDOW_MS) this.#readings.shift();
    const from = this.#readings[0] ?? now;
    const seconds = (now.at - from.at) / 1000;
    this.#readings.push(now);
    const rate = seconds === 0 ? 0 : (now.ended - from.ended) / seconds;
    return { completed, failed, tasksPerSecond: Math.round(rate * 100) / 100 };
  }
}
