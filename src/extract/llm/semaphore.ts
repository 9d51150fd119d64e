/** So many calls at once; the others wait in the order in which they came, and leave the line when they are aborted. */
export class Semaphore {
  readonly #waiting = new Set<() => void>();
  #free: number;

  constructor(most: number) {
    this.#free = most;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Given back when it is disposed; rejects with the signal's reason. */
  async enter(signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free -= 1;
    else await this.#wait(signal);
    let left = false;
    return {
      [Symbol.dispose]: () => {
        if (!left) this.#next();
        left = true;
      },
    };
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const go = () => {
        signal.removeEventListener("abort", stop);
        resolve();
      };
      const stop = () => {
        this.#waiting.delete(go);
        reject(signal.reason);
      };
      this.#waiting.add(go);
      signal.addEventListener("abort", stop, { once: true });
    });
  }

  #next(): void {
    const [go] = this.#waiting;
    if (go === undefined) {
      this.#free += 1;
      return;
    }
    this.#waiting.delete(go);
    go();
  }
}
