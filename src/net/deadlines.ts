import type { Clock, Timer } from "../base/clock.ts";

export interface Timed {
  /**
   * Called on every sweep; ends itself when one of its limits has passed. `stalledMs` is how long this process itself
   * was stalled (busy, frozen, asleep): the site is not charged for that time.
   */
  check(now: number, stalledMs: number): void;
}

const SLOWEST_SWEEP_MS = 200;
const FASTEST_SWEEP_MS = 5;

/**
 * One timer for all requests of a client, instead of three per request (connect, headers, idle). It runs only while
 * something is in flight. Limits are accurate to a quarter of the shortest one, at best 5 ms.
 */
export class Deadlines {
  readonly #clock: Clock;
  readonly #items = new Set<Timed>();
  #timer: Timer | null = null;
  #interval = SLOWEST_SWEEP_MS;
  #dueAt = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#items.size;
  }

  add(item: Timed, shortestLimitMs: number): void {
    this.#items.add(item);
    const interval = Math.max(FASTEST_SWEEP_MS, Math.min(SLOWEST_SWEEP_MS, shortestLimitMs / 4));
    if (interval < this.#interval) {
      this.#interval = interval;
      this.#timer?.cancel();
      this.#timer = null;
    }
    if (this.#timer === null) this.#arm(this.#clock.monotonic());
  }

  delete(item: Timed): void {
    this.#items.delete(item);
  }

  /** A copy: callers may delete items while iterating. */
  all(): Timed[] {
    return [...this.#items];
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  readonly #sweep = () => {
    this.#timer = null;
    if (this.#items.size === 0) {
      this.#interval = SLOWEST_SWEEP_MS;
      return;
    }
    const now = this.#clock.monotonic();
    const late = now - this.#dueAt;
    const stalledMs = late > this.#interval ? late : 0;
    // Items that end delete themselves; a Set allows that during iteration.
    for (const item of this.#items) item.check(now, stalledMs);
    if (this.#timer === null) this.#arm(now);
  };

  #arm(now: number): void {
    this.#dueAt = now + this.#interval;
    this.#timer = this.#clock.after(this.#interval, this.#sweep);
  }
}
