import type { Clock } from "../../base/clock.ts";
import type { Gauge, Strain } from "../../base/gauge.ts";
import type { Log } from "../../base/log.ts";

interface LoadShedderDeps {
  clock: Clock;
  log: Log;
  gauge: Gauge;
  /** The configured concurrency. */
  most: number;
}

const MEASURE_MS = 500;
const MIN_CONCURRENCY = 2;
const STRAINED: Strain = { lagMs: 200, memory: 0.9 };
const CALM: Strain = { lagMs: 100, memory: 0.85 };

/**
 * Limits the tasks this process runs at once: step by step fewer while the event loop lags or memory is short, and more
 * again when both recover. It measures on demand only, so an idle process spends nothing on it.
 */
export class LoadShedder {
  readonly #deps: LoadShedderDeps;
  readonly #min: number;
  #current: number;
  #measuredAt: number;

  constructor(deps: LoadShedderDeps) {
    this.#deps = deps;
    this.#current = deps.most;
    this.#min = Math.min(MIN_CONCURRENCY, deps.most);
    this.#measuredAt = deps.clock.monotonic();
  }

  /** The current limit; `used` is the number in flight. */
  most(used: number): number {
    const { clock, gauge } = this.#deps;
    if (clock.monotonic() - this.#measuredAt < MEASURE_MS) return this.#current;
    this.#measuredAt = clock.monotonic();
    const strain = gauge.read();
    if (exceeds(strain, STRAINED)) this.#lower(used, strain);
    else if (this.#current < this.#deps.most && !exceeds(strain, CALM)) this.#raise();
    return this.#current;
  }

  #lower(used: number, { lagMs, memory }: Strain): void {
    const { most, log } = this.#deps;
    const isFirst = this.#current === most;
    // Starts from the current number in flight: lowering a distant limit would have no effect.
    this.#current = Math.max(this.#min, Math.min(this.#current, Math.floor(Math.max(used, 1) * 0.75)));
    if (isFirst && this.#current < most)
      log.warn("concurrency reduced: event loop lag or memory", {
        lag_ms: Math.round(lagMs),
        memory_percent: Math.round(memory * 100),
      });
  }

  #raise(): void {
    const { most, log } = this.#deps;
    this.#current = Math.min(most, this.#current + Math.max(1, Math.floor(this.#current / 8)));
    if (this.#current === most) log.info("normal concurrency restored");
  }
}

function exceeds(strain: Strain, limit: Strain): boolean {
  return strain.lagMs > limit.lagMs || strain.memory > limit.memory;
}
