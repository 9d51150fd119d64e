import type { Clock } from "../../base/clock.ts";
import type { Signal } from "../../base/signal.ts";

/** A woken lane that does not ask within this time wants no permit any more. */
const WAKE_TIMEOUT_MS = 1000;

/**
 * Lanes that wait for a permit of a budget, in order. A freed permit belongs to the first: the lane that has just released
 * it asks sooner than lanes that have to wake up, and would get it every time.
 */
export class WaitingLine {
  readonly #clock: Clock;
  /** When each lane was woken; null: it waits. */
  readonly #lanes = new Map<Signal, number | null>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A lane that already waits keeps its position. */
  join(lane: Signal): void {
    this.#lanes.set(lane, null);
  }

  /** False: the lane was not in line. */
  leave(lane: Signal): boolean {
    return this.#lanes.delete(lane);
  }

  /** How many waiting lanes precede this one and may have a permit; a lane that does not wait comes last. */
  ahead(lane: Signal, mayHave: (other: Signal) => boolean): number {
    const since = this.#clock.monotonic() - WAKE_TIMEOUT_MS;
    let before = 0;
    for (const [other, wokenAt] of this.#lanes) {
      if (other === lane) break;
      if (wokenAt !== null && wokenAt < since) this.#lanes.delete(other);
      else if (mayHave(other)) before += 1;
    }
    return before;
  }

  /** Waiting lanes that have not been woken. */
  get size(): number {
    let waiting = 0;
    for (const wokenAt of this.#lanes.values()) if (wokenAt === null) waiting += 1;
    return waiting;
  }

  /** A lane waits, or was woken and may still ask. */
  get isAwaited(): boolean {
    const since = this.#clock.monotonic() - WAKE_TIMEOUT_MS;
    for (const wokenAt of this.#lanes.values()) if (wokenAt === null || wokenAt >= since) return true;
    return false;
  }

  /** Wakes all lanes to check for their turn, first in line first. */
  wake(): void {
    const now = this.#clock.monotonic();
    for (const [lane, wokenAt] of [...this.#lanes]) {
      if (wokenAt !== null) continue;
      this.#lanes.set(lane, now);
      lane.raise();
    }
  }
}
