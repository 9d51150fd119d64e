import type { Clock } from "../../../base/clock.ts";
import type { RunRecord, Store } from "../../../store/ports/port.ts";

/** Pausing a run moves its deadline: close to the known deadline it is read again. */
const REREAD_MS = 250;
/** Weight of the newest page in the moving average. */
const NEWEST_WEIGHT = 0.2;
/** The first pages are not representative: they wait for connections and for threads to start. */
const ENOUGH_PAGES = 5;
/** Most pages take less than this multiple of the average. */
const SLOWER_THAN_AVERAGE = 2;

/** The time left for a crawl, by the monotonic clock, and how much of it a page takes. */
export class CrawlTime {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #runId: string;
  #endsAt: number;
  #readAt: number;
  #averageMs = 0;
  #pages = 0;

  constructor(deps: { store: Store; clock: Clock }, run: RunRecord) {
    this.#store = deps.store;
    this.#clock = deps.clock;
    this.#runId = run.id;
    this.#readAt = deps.clock.monotonic();
    this.#endsAt = this.#endOf(run);
  }

  took(ms: number): void {
    this.#pages += 1;
    this.#averageMs += (ms - this.#averageMs) * Math.max(NEWEST_WEIGHT, 1 / this.#pages);
  }

  /** Time that must be left to start another page, which may take `timeoutMs` at most. */
  neededMs(timeoutMs: number): number {
    return this.#pages < ENOUGH_PAGES ? 0 : Math.min(timeoutMs, this.#averageMs * SLOWER_THAN_AVERAGE);
  }

  /** Exact when less than `matters`. */
  async leftMs(matters: number): Promise<number> {
    const now = this.#clock.monotonic();
    if (this.#endsAt - now >= matters || now - this.#readAt < REREAD_MS) return this.#endsAt - now;
    this.#readAt = now;
    const run = await this.#store.run(this.#runId);
    if (run !== null) this.#endsAt = this.#endOf(run);
    return this.#endsAt - this.#clock.monotonic();
  }

  #endOf({ timeLimitMs, ranMs, runningSince }: RunRecord): number {
    if (timeLimitMs === null) return Number.POSITIVE_INFINITY;
    const running = runningSince === null ? 0 : Math.max(0, this.#clock.now() - runningSince);
    return this.#clock.monotonic() + timeLimitMs - ranMs - running;
  }
}
