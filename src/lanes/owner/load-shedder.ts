import type { Clock } from "../../base/clock.ts";
import type { Gauge, Strain } from "../../base/gauge.ts";
import type { Log } from "../../base/log.ts";

interface YieldingDeps {
  clock: Clock;
  log: Log;
  gauge: Gauge;
  /** As many tasks at once as are configured. */
  most: number;
}

const LOOK_MS = 500;
const FEWEST = 2;
const STRAINED: Strain = { lagMs: 200, memory: 0.9 };
const CALM: Strain = { lagMs: 100, memory: 0.85 };

/**
 * How many tasks this process runs at once: fewer while its event loop lags or memory is short, step by step, and more
 * again when both recover. It measures only on demand, so an idle process does nothing for it.
 */
export class LoadShedder {
  readonly #deps: YieldingDeps;
  readonly #fewest: number;
  #now: number;
  #looked: number;

  constructor(deps: YieldingDeps) {
    this.#deps = deps;
    this.#now = deps.most;
    this.#fewest = Math.min(FEWEST, deps.most);
    this.#looked = deps.clock.monotonic();
  }

  /** So many at once, of which `used` are under way. */
  most(used: number): number {
    const { clock, gauge } = this.#deps;
    if (clock.monotonic() - this.#looked < LOOK_MS) return this.#now;
    this.#looked = clock.monotonic();
    const strain = gauge.read();
    if (exceeds(strain, STRAINED)) this.#lower(used, strain);
    else if (this.#now < this.#deps.most && !exceeds(strain, CALM)) this.#raise();
    return this.#now;
  }

  #lower(used: number, { lagMs, memory }: Strain): void {
    const { most, log } = this.#deps;
    const begins = this.#now === most;
    // Starts from the current number in flight: lowering a distant limit would have no effect.
    this.#now = Math.max(this.#fewest, Math.min(this.#now, Math.floor(Math.max(used, 1) * 0.75)));
    if (begins && this.#now < most)
      log.warn("fewer tasks at once, because this process is short of time or memory", {
        lag_ms: Math.round(lagMs),
        memory_percent: Math.round(memory * 100),
      });
  }

  #raise(): void {
    const { most, log } = this.#deps;
    this.#now = Math.min(most, this.#now + Math.max(1, Math.floor(this.#now / 8)));
    if (this.#now === most) log.info("as many tasks at once as before");
  }
}

function exceeds(strain: Strain, limit: Strain): boolean {
  return strain.lagMs > limit.lagMs || strain.memory > limit.memory;
}
