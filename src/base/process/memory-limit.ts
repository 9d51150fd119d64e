import { type Clock, sleep } from "../clock.ts";
import { OrbError } from "../errors.ts";

interface MemoryLimitOptions {
  clock: Clock;
  /** Null: no limit, and nothing waits. */
  limitBytes: number | null;
  /** Current usage of this process and its browsers. */
  used: () => Promise<number>;
  /** Called above the limit, to free what can be freed. */
  relieve?: () => void;
}

const LOOK_MS = 1000;
/** Hysteresis: once exceeded, this share of the limit must be free again. */
const FREE_SHARE = 0.1;
const inMb = (bytes: number) => Math.round(bytes / 1024 / 1024);

/** Memory limit of this process and its browsers. Measured on demand, at a limited rate. */
export class MemoryLimit {
  readonly #options: MemoryLimitOptions;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | null = null;
  #used = 0;
  #since: number | null = null;
  /** Usage before the first entry. */
  #atFirst: number | null = null;
  /** Entered and not yet left. */
  #inside = 0;

  constructor(options: MemoryLimitOptions) {
    this.#options = options;
  }

  get limitBytes(): number | null {
    return this.#options.limitBytes;
  }

  /** Since when it is exceeded; null: it is not. */
  get since(): number | null {
    return this.#since;
  }

  async used(): Promise<number> {
    await this.#look();
    return this.#used;
  }

  /** Throws `memory_full` while it is exceeded. */
  async check(): Promise<void> {
    const { limitBytes } = this.#options;
    if (limitBytes === null) return;
    await this.#look();
    if (this.#since === null) return;
    throw new OrbError("memory_full", this.#words(limitBytes));
  }

  /**
   * Resolves when there is memory, with the function that leaves again; rejects with the signal's reason if that aborts
   * first. One caller is always admitted, because waiting could last forever.
   */
  async enter(signal?: AbortSignal): Promise<() => void> {
    for (;;) {
      signal?.throwIfAborted();
      if (this.#options.limitBytes !== null) await this.#look();
      if (this.#since === null || this.#inside === 0) {
        this.#inside += 1;
        return () => void (this.#inside -= 1);
      }
      await sleep(this.#options.clock, LOOK_MS, signal);
    }
  }

  #words(limitBytes: number): string {
    const free = limitBytes * (1 - FREE_SHARE);
    const first = this.#atFirst ?? 0;
    const is = `APP_MAX_MEMORY_MB is ${inMb(limitBytes)}`;
    if (first > free)
      return `${is}, and this process took ${inMb(first)} MB at startup, so tasks run one at a time: set it to ${inMb(2 * first)} or more`;
    return `this process and its browsers use ${inMb(this.#used)} MB of memory, and ${is}; tasks run one at a time until usage falls to ${inMb(free)} MB`;
  }

  async #look(): Promise<void> {
    const { clock } = this.#options;
    if (clock.monotonic() - this.#lookedAt < LOOK_MS) return;
    this.#looking ??= this.#measure().finally(() => (this.#looking = null));
    await this.#looking;
  }

  async #measure(): Promise<void> {
    const { clock, limitBytes, used, relieve } = this.#options;
    this.#used = await used();
    this.#atFirst ??= this.#used;
    this.#lookedAt = clock.monotonic();
    if (limitBytes === null) return;
    if (this.#used <= limitBytes * (this.#since === null ? 1 : 1 - FREE_SHARE)) {
      this.#since = null;
      return;
    }
    this.#since ??= clock.now();
    relieve?.();
  }
}
