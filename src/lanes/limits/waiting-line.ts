import type { Clock } from "../../base/clock.ts";
import type { Signal } from "../../base/signal.ts";

/** A lane that was woken and has not asked for this long does not want any more. */
const ANSWERS_WITHIN_MS = 1000;

/**
 * Lanes that wait for a unit of a budget, in order. A freed unit belongs to the first of them: the lane that has just
 * released one asks sooner than those that have to wake up, and would get it every time.
 */
export class WaitingLine {
  readonly #clock: Clock;
  /** When each was woken; null: it waits. */
  readonly #lanes = new Map<Signal, number | null>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A lane that already waits keeps its position. */
  join(lane: Signal): void {
    this.#lanes.set(lane, null);
  }

  /** True: it was in line. */
  leave(lane: Signal): boolean {
    return this.#lanes.delete(lane);
  }

  /** How many waiting lanes precede this one and may have a unit; a lane that does not wait comes last. */
  ahead(lane: Signal, mayHave: (other: Signal) => boolean): number {
    const since = this.#clock.monotonic() - ANSWERS_WITHIN_MS;
    let before = 0;
    for (const [other, wokenAt] of this.#lanes) {
      if (other === lane) break;
      if (wokenAt !== null && wokenAt < since) this.#lanes.delete(other);
      else if (mayHave(other)) before += 1;
    }
    return before;
  }

  /** How many wait that have not been woken. */
  get size(): number {
    let waiting = 0;
    for (const wokenAt of this.#lanes.values()) if (wokenAt === null) waiting += 1;
    return waiting;
  }

  /** Somebody waits, or was woken and may still ask again. */
  get isAwaited(): boolean {
    const since = this.#clock.monotonic() - ANSWERS_WITHIN_MS;
    for (const wokenAt of this.#lanes.values()) if (wokenAt === null || wokenAt >= since) return true;
    return false;
  }

  /** All look whether it is their turn, the first in line first. */
  wake(): void {
    const now = this.#clock.monotonic();
    for (const [lane, wokenAt] of [...this.#lanes]) {
      if (wokenAt !== null) continue;
      this.#lanes.set(lane, now);
      lane.raise();
    }
  }
}
