/** Permits shared by several callers; waits for free permits, first come, first served. */
export class Semaphore {
  readonly #waiting = new Set<{ permits: number; grant(): void }>();
  #free: number;

  constructor(permits: number) {
    this.#free = permits;
  }

  /** Number of waiting callers. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Disposing releases it; rejects with the signal's reason. `permits` must not exceed the total. */
  async acquire({ permits = 1, signal }: { permits?: number; signal?: AbortSignal } = {}): Promise<Disposable> {
    signal?.throwIfAborted();
    if (this.#waiting.size === 0 && permits <= this.#free) this.#free -= permits;
    else await this.#wait(permits, signal);
    let released = false;
    return {
      [Symbol.dispose]: () => {
        if (released) return;
        released = true;
        this.#free += permits;
        this.#grant();
      },
    };
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    using _permit = await this.acquire();
    return await work();
  }

  #wait(permits: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter = {
        permits,
        grant: () => {
          signal?.removeEventListener("abort", leave);
          resolve();
        },
      };
      const leave = () => {
        this.#waiting.delete(waiter);
        // Callers further back may need fewer permits.
        this.#grant();
        reject(signal?.reason);
      };
      this.#waiting.add(waiter);
      signal?.addEventListener("abort", leave, { once: true });
    });
  }

  #grant(): void {
    for (const waiter of this.#waiting) {
      if (waiter.permits > this.#free) return;
      this.#waiting.delete(waiter);
      this.#free -= waiter.permits;
      waiter.grant();
    }
  }
}
