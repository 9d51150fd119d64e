/** Long work yields to the event loop regularly, so that other requests are answered meanwhile. */
import { setImmediate } from "node:timers/promises";

/** Maximum time between two yields; a yield costs some microseconds. */
const PIECE_MS = 8;

/** Lets the event loop run once: pending network input is read before this resolves. */
export async function yieldToEventLoop(): Promise<void> {
  await setImmediate();
}

/** Call after each small part of long work; yields when the parts since the last yield took long enough. */
export class Turns {
  readonly #pieceMs: number;
  readonly #yield: () => Promise<void>;
  #since = performance.now();
  #parts = 0;

  constructor({ pieceMs = PIECE_MS, give = yieldToEventLoop }: { pieceMs?: number; give?: () => Promise<void> } = {}) {
    this.#pieceMs = pieceMs;
    this.#yield = give;
  }

  /** `parts`: reads the clock only once per this many calls. */
  async after(parts = 1): Promise<void> {
    this.#parts += 1;
    if (this.#parts < parts) return;
    this.#parts = 0;
    if (performance.now() - this.#since < this.#pieceMs) return;
    await this.#yield();
    this.#since = performance.now();
  }
}

/** Runs work that consists of stages, and yields between them when they take long. */
export async function inTurns<T>(stages: Iterator<void, T>, turns = new Turns()): Promise<T> {
  for (;;) {
    const stage = stages.next();
    if (stage.done === true) return stage.value;
    await turns.after();
  }
}

/**
 * Starts concurrent calls one per event-loop turn, so that short requests are answered in between. A single call starts
 * at once.
 */
export class TurnQueue {
  readonly #waiting: (() => void)[] = [];
  #isTaken = false;

  take(): Promise<void> | undefined {
    if (!this.#isTaken) {
      this.#isTaken = true;
      this.#next();
      return undefined;
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #next(): void {
    void yieldToEventLoop().then(() => {
      const begin = this.#waiting.shift();
      if (begin === undefined) {
        this.#isTaken = false;
        return;
      }
      begin();
      this.#next();
    });
  }
}
