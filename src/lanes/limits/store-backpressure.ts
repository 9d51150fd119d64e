import type { Clock, Timer } from "../../base/clock.ts";
import { isDiskFull, isOrbError, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Signal } from "../../base/signal.ts";

const PROBE_MS = 1000;

/**
 * The process cannot write (disk full, database unreachable): work pauses without loss, and resumes when a probe
 * succeeds.
 */
export class StoreBackpressure {
  readonly #deps: { clock: Clock; log: Log; probe: () => Promise<void> };
  readonly #listeners = new Set<Signal>();
  #reason: string | null = null;
  #since: number | null = null;
  #stopped = false;
  #timer: Timer | null = null;

  constructor(deps: { clock: Clock; log: Log; probe: () => Promise<void> }) {
    this.#deps = deps;
  }

  /** The latest error; null: none. */
  get reason(): string | null {
    return this.#reason;
  }

  get since(): number | null {
    return this.#since;
  }

  /** True: the error means that writes must wait. */
  report(error: unknown): boolean {
    const waits =
      isDiskFull(error) || (isOrbError(error) && (error.reaction === "wait" || error.code === "database_busy"));
    if (!waits) return false;
    if (this.#reason === null) {
      this.#reason = messageOf(error);
      this.#since = this.#deps.clock.now();
      this.#deps.log.error("work paused: the store or the disk accepts no writes", { reason: this.#reason });
      this.#probeLater();
      this.#notify();
    }
    return true;
  }

  subscribe(signal: Signal): () => void {
    this.#listeners.add(signal);
    return () => this.#listeners.delete(signal);
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  #probeLater(): void {
    if (!this.#stopped) this.#timer = this.#deps.clock.after(PROBE_MS, () => void this.#probe(), { keepAlive: true });
  }

  async #probe(): Promise<void> {
    try {
      await this.#deps.probe();
    } catch (error) {
      this.#reason = messageOf(error);
      return this.#probeLater();
    }
    const was = this.#reason;
    this.#reason = null;
    this.#since = null;
    this.#deps.log.info("work resumed: writes succeed again", { was });
    this.#notify();
  }

  #notify(): void {
    for (const signal of this.#listeners) signal.raise();
  }
}
