import type { Clock } from "../../base/clock.ts";

const MAX_TURN_MS = 10;
/** Lanes resumed in one turn, each for about a millisecond. */
const LANES_PER_TURN = 8;

/**
 * Keeps lanes that never wait from starving heartbeats, API calls and each other: a thousand steps that began together
 * blocked the event loop for a second. One instance for all lanes of a process.
 */
export class EventLoopTurns {
  readonly #clock: Clock;
  readonly #waiting: (() => void)[] = [];
  /** When the first lane ran in this turn; null: none has. */
  #since: number | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Yields if this turn of the event loop has lasted too long; null: not yet. */
  yieldNow(): Promise<void> | null {
    if (this.#waiting.length === 0 && this.#clock.monotonic() - this.#turnStart() < MAX_TURN_MS) return null;
    return new Promise<void>((resolve) => {
      if (this.#waiting.push(resolve) === 1) this.#resumeLater();
    });
  }

  #turnStart(): number {
    if (this.#since === null) {
      this.#since = this.#clock.monotonic();
      setImmediate(() => (this.#since = null)).unref();
    }
    return this.#since;
  }

  #resumeLater(): void {
    this.#clock.after(
      0,
      () => {
        this.#since = null;
        for (const resume of this.#waiting.splice(0, LANES_PER_TURN)) resume();
        if (this.#waiting.length > 0) this.#resumeLater();
      },
      { keepAlive: true },
    );
  }
}
