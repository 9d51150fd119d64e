/** Long work in one process gives the event loop a turn now and then: others are answered meanwhile. */
import { setImmediate } from "node:timers/promises";

/** So long others may wait for a piece of work; a turn costs some microseconds. */
const PIECE_MS = 8;

/** A turn of the event loop: what has come in from the network is read before this goes on. */
export async function yieldToEventLoop(): Promise<void> {
  await setImmediate();
}

/** Asked after each small part of long work; waits for a turn when the parts since the last one have taken long enough. */
export class Turns {
  readonly #pieceMs: number;
  readonly #yield: () => Promise<void>;
  #since = performance.now();
  #parts = 0;

  constructor({ pieceMs = PIECE_MS, give = yieldToEventLoop }: { pieceMs?: number; give?: () => Promise<void> } = {}) {
    this.#pieceMs = pieceMs;
    this.#yield = give;
  }

  /** `parts`: a clock is looked at once in so many calls. */
  async after(parts = 1): Promise<void> {
    this.#parts += 1;
    if (this.#parts < parts) return;
    this.#parts = 0;
    if (performance.now() - this.#since < this.#pieceMs) return;
    await this.#yield();
    this.#since = performance.now();
  }
}

/** The end of work that comes in stages; others have their turn between two of them where they have taken long. */
export async function inTurns<T>(stages: Iterator<void, T>, turns = new Turns()): Promise<T> {
  for (;;) {
    const stage = stages.next();
    if (stage.done === true) return stage.value;
    await turns.after();
  }
}

/**
 * Lets calls begin one after the other, each in a turn of its own, when many come at once: in between, whatever is short is
 * answered. One that comes alone begins at once.
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
