import { type Clock, sleep } from "../base/clock.ts";
import { messageOf, OrbError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { Signal } from "../base/signal.ts";
import { OutageLogger } from "../base/outage-logger.ts";
import type { Store } from "../store/ports/port.ts";

interface LeaseOptions {
  store: Store;
  clock: Clock;
  log: Log;
  ttlMs: number;
  heartbeatMs: number;
}

/** Null: no answer in time, or the answer is null. */
async function withTimeout<T>(clock: Clock, ms: number, answer: Promise<T>): Promise<T | null> {
  const answered = new AbortController();
  try {
    return await Promise.race([answer, sleep(clock, ms, answered.signal).then(() => null)]);
  } finally {
    answered.abort();
  }
}

/** Minimum interval between checks, however often doubts are reported. */
const DOUBT_MS = 500;

/** Tracks ownership by this process's monotonic clock: it stops before others may take over. */
export class Lease {
  readonly #options: LeaseOptions;
  /** When the last successful renewal was sent, so never too late. */
  #renewed = Number.NEGATIVE_INFINITY;
  #asked = Number.NEGATIVE_INFINITY;
  readonly #wake = new Signal();

  constructor(options: LeaseOptions) {
    this.#options = options;
  }

  /** Call before requesting the lease. */
  asked(): void {
    this.#renewed = this.#options.clock.monotonic();
  }

  /** Obtains the lease under a name. Who waited long for its turn has little of it left by its own clock, and renews it. */
  async obtain(owner: string, join: () => Promise<void>): Promise<void> {
    const { store, clock, ttlMs, heartbeatMs } = this.#options;
    this.asked();
    await join();
    if (clock.monotonic() - this.#renewed < heartbeatMs) return;
    this.asked();
    try {
      if ((await store.heartbeat(owner, ttlMs)) === null)
        throw new OrbError("engine_lost", "the lease ended before it could be used");
    } catch (error) {
      // Nobody works under this name: others would count it until its lease ends.
      await store.leaveOwners(owner).catch(() => {});
      throw error;
    }
  }

  holds(): boolean {
    return this.#options.clock.monotonic() - this.#renewed < this.#options.ttlMs;
  }

  /** Ownership is in doubt: checks the store soon instead of at the next heartbeat. */
  doubt(): void {
    if (this.#options.clock.monotonic() - this.#asked >= DOUBT_MS) this.#wake.raise();
  }

  /** Renews the lease until it is lost, which aborts `lost`, or until `lost` is aborted. */
  async keep(owner: string, lost: AbortController, renewed: () => Promise<void> = async () => {}): Promise<void> {
    const { store, clock, log, ttlMs, heartbeatMs } = this.#options;
    const outages = new OutageLogger(log);
    lost.signal.addEventListener("abort", () => this.#wake.raise(), { once: true });
    while (!lost.signal.aborted) {
      await this.#wake.wait(clock, heartbeatMs);
      if (lost.signal.aborted) return;
      const asked = (this.#asked = clock.monotonic());
      try {
        const beat = await withTimeout(clock, this.#renewed + ttlMs - asked, store.heartbeat(owner, ttlMs));
        if (beat === null) return lost.abort();
        this.#renewed = asked;
        outages.ends("the engine's lease is renewed again");
        await renewed();
      } catch (error) {
        outages.begins("cannot renew the engine's lease; retrying", { error: messageOf(error) });
      }
      if (clock.monotonic() - this.#renewed > ttlMs - heartbeatMs) return lost.abort();
    }
  }
}
