/** Places that are taken and given back; who waits longest is next. */
export class PageSlots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** Resolves with a place; rejects with the signal's reason when that comes first. */
  take(signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
    if (this.#free > 0) {
      this.#free -= 1;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const begin = () => {
        signal?.removeEventListener("abort", leave);
        resolve();
      };
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1);
        reject(signal!.reason as Error);
      };
      this.#waiting.push(begin);
      signal?.addEventListener("abort", leave, { once: true });
    });
  }

  give(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}

/** What a page is taken to need where that cannot be measured. */
export const PAGE_BYTES = 300 * 1024 * 1024;

/** How many pages may be open at once on a machine with this much free memory. */
export function pagesForMemory(freeBytes: number): number {
  return Math.max(1, Math.min(8, Math.floor(freeBytes / PAGE_BYTES)));
}
