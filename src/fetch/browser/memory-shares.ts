import { type Clock, sleep } from "../../base/clock.ts";
import type { MemoryShare } from "../page.ts";

interface Waiter {
  begin(): void;
  onWait: ((waits: boolean) => void) | undefined;
  isNotified: boolean;
}

interface SiteShare {
  open: number;
  maxBytes: number | null;
  waiting: Waiter[];
}

/** How long a measurement is valid; it is repeated while pages wait. */
const MEASUREMENT_TTL_MS = 1000;

/**
 * Limits the open pages of each site to its share of the browser's memory: always one, and more while pages of the
 * measured size fit. Only pages of the same site wait for each other.
 */
export class MemoryShares {
  readonly #clock: Clock;
  /** Average memory of the open pages; null: none is open. */
  readonly #measure: () => Promise<number | null>;
  readonly #sites = new Map<string, SiteShare>();
  #pageBytes: number | null = null;
  #measuredAt = Number.NEGATIVE_INFINITY;
  #isMeasuring = false;

  constructor(clock: Clock, measure: () => Promise<number | null>) {
    this.#clock = clock;
    this.#measure = measure;
  }

  /** Resolves when the page may be opened; rejects with the signal's reason when that comes first. */
  take({ site, maxBytes, onWait }: MemoryShare, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    const share = this.#sites.get(site) ?? { open: 0, maxBytes, waiting: [] };
    this.#sites.set(site, share);
    // The latest limit also applies to waiting pages.
    share.maxBytes = maxBytes;
    return new Promise((resolve, reject) => {
      const leave = () => {
        share.waiting.splice(share.waiting.indexOf(waiter), 1);
        this.#removeIfUnused(site, share);
        if (waiter.isNotified) onWait?.(false);
        reject(signal.reason as Error);
      };
      const waiter: Waiter = {
        onWait,
        isNotified: false,
        begin: () => {
          signal.removeEventListener("abort", leave);
          if (waiter.isNotified) onWait?.(false);
          resolve();
        },
      };
      signal.addEventListener("abort", leave, { once: true });
      share.waiting.push(waiter);
      this.#grant(share);
      if (share.waiting.length > 0) void this.#measureWhileWaiting();
    });
  }

  release(site: string): void {
    const share = this.#sites.get(site)!;
    share.open -= 1;
    this.#grant(share);
    this.#removeIfUnused(site, share);
  }

  #removeIfUnused(site: string, { open, waiting }: SiteShare): void {
    if (open === 0 && waiting.length === 0) this.#sites.delete(site);
  }

  #grant(share: SiteShare): void {
    while (share.waiting.length > 0 && this.#fits(share)) {
      share.open += 1;
      share.waiting.shift()!.begin();
    }
  }

  #fits({ open, maxBytes }: SiteShare): boolean {
    if (open === 0 || maxBytes === null) return true;
    if (this.#clock.monotonic() - this.#measuredAt > MEASUREMENT_TTL_MS || this.#pageBytes === null) return false;
    return (open + 1) * this.#pageBytes <= maxBytes;
  }

  /** Repeats the measurement while pages wait: pages grow and shrink. */
  async #measureWhileWaiting(): Promise<void> {
    if (this.#isMeasuring) return;
    this.#isMeasuring = true;
    for (;;) {
      this.#pageBytes = await this.#measure();
      this.#measuredAt = this.#clock.monotonic();
      for (const share of this.#sites.values()) this.#grant(share);
      const left = [...this.#sites.values()].flatMap(({ waiting }) => waiting);
      if (left.length === 0) break;
      for (const waiter of left.filter(({ isNotified }) => !isNotified)) {
        waiter.isNotified = true;
        waiter.onWait?.(true);
      }
      await sleep(this.#clock, MEASUREMENT_TTL_MS / 2);
    }
    this.#isMeasuring = false;
  }
}
