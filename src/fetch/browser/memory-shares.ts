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

/** A measurement is believed so long; while somebody waits, it is made again and again. */
const BELIEVED_MS = 1000;

/**
 * How many pages of a site may be open at once so that they stay within its share of the browser's memory: always one,
 * and more as long as that many pages of the size that was measured fit. Only pages of the same site wait for each other.
 */
export class MemoryShares {
  readonly #clock: Clock;
  /** What a page takes, of those that are open now; null: none is. */
  readonly #measure: () => Promise<number | null>;
  readonly #sites = new Map<string, SiteShare>();
  #pageBytes: number | null = null;
  #measuredAt = Number.NEGATIVE_INFINITY;
  #looks = false;

  constructor(clock: Clock, measure: () => Promise<number | null>) {
    this.#clock = clock;
    this.#measure = measure;
  }

  /** Resolves when the page may be opened; rejects with the signal's reason when that comes first. */
  take({ site, maxBytes, onWait }: MemoryShare, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    const share = this.#sites.get(site) ?? { open: 0, maxBytes, waiting: [] };
    this.#sites.set(site, share);
    // The newest word holds for those who wait, too.
    share.maxBytes = maxBytes;
    return new Promise((resolve, reject) => {
      const leave = () => {
        share.waiting.splice(share.waiting.indexOf(waiter), 1);
        this.#forget(site, share);
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
      if (share.waiting.length > 0) void this.#look();
    });
  }

  give(site: string): void {
    const share = this.#sites.get(site)!;
    share.open -= 1;
    this.#grant(share);
    this.#forget(site, share);
  }

  #forget(site: string, { open, waiting }: SiteShare): void {
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
    if (this.#clock.monotonic() - this.#measuredAt > BELIEVED_MS || this.#pageBytes === null) return false;
    return (open + 1) * this.#pageBytes <= maxBytes;
  }

  /** Measures while somebody waits: pages grow and shrink. */
  async #look(): Promise<void> {
    if (this.#looks) return;
    this.#looks = true;
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
      await sleep(this.#clock, BELIEVED_MS / 2);
    }
    this.#looks = false;
  }
}
