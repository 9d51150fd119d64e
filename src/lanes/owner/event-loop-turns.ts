import type { Clock } from "../../base/clock.ts";

const EVERY_MS = 10;
/** Lanes that go on in one turn, each for about a millisecond. */
const AT_ONCE = 8;

/**
 * Lanes that end without waiting for anything must not keep heartbeats, calls and each other from their turn: a thousand
 * steps that began at once took a whole second. One for all lanes of a process.
 */
export class EventLoopTurns {
  readonly #clock: Clock;
  readonly #waiting: (() => void)[] = [];
  /** When lanes began to work in this turn; null: none has. */
  #since: number | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Lets others run if none has for a while; null: that is not needed yet. */
  yieldNow(): Promise<void> | null {
    if (this.#waiting.length === 0 && this.#clock.monotonic() - this.#turnBegan() < EVERY_MS) return null;
    return new Promise<void>((resolve) => {
      if (this.#waiting.push(resolve) === 1) this.#goOnLater();
    });
  }

  #turnBegan(): number {
    if (this.#since === null) {
      this.#since = this.#clock.monotonic();
      setImmediate(() => (this.#since = null)).unref();
    }
    return this.#since;
  }

  #goOnLater(): void {
    this.#clock.after(
      0,
      () => {
        this.#since = null;
        for (const goOn of this.#waiting.splice(0, AT_ONCE)) goOn();
        if (this.#waiting.length > 0) this.#goOnLater();
      },
      { keepAlive: true },
    );
  }
}
