import type { Clock } from "../../../base/clock.ts";
import type { RunRecord, Store } from "../../../store/ports/port.ts";

/** A run may be paused and resumed, which moves its deadline: close to the known deadline the store is asked again. */
const ASK_AGAIN_MS = 250;
/** How much the newest page counts in the average. */
const NEWEST = 0.2;
/** The first pages say little: they wait for connections, and for threads to start. */
const ENOUGH_PAGES = 5;
/** Most pages take less than this multiple of the average. */
const SLOWER_THAN_AVERAGE = 2;

/** What is left of a crawl's time, by a clock that does not jump, and how much of it a page takes. */
export class CrawlTime {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #runId: string;
  #endsAt: number;
  #askedAt: number;
  #averageMs = 0;
  #pages = 0;

  constructor(deps: { store: Store; clock: Clock }, run: RunRecord) {
    this.#store = deps.store;
    this.#clock = deps.clock;
    this.#runId = run.id;
    this.#askedAt = deps.clock.monotonic();
    this.#endsAt = this.#endOf(run);
  }

  /** A page was got in this time. */
  took(ms: number): void {
    this.#pages += 1;
    this.#averageMs += (ms - this.#averageMs) * Math.max(NEWEST, 1 / this.#pages);
  }

  /** So much time must be left for another page, which may take `timeoutMs` at most. */
  neededMs(timeoutMs: number): number {
    return this.#pages < ENOUGH_PAGES ? 0 : Math.min(timeoutMs, this.#averageMs * SLOWER_THAN_AVERAGE);
  }

  /** Exact when it is less than `matters`. */
  async leftMs(matters: number): Promise<number> {
    const now = this.#clock.monotonic();
    if (this.#endsAt - now >= matters || now - this.#askedAt < ASK_AGAIN_MS) return this.#endsAt - now;
    this.#askedAt = now;
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
