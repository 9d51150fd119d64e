import { type Clock, sleep } from "./clock.ts";
import { OrbError } from "./errors.ts";

interface MemoryLimitOptions {
  clock: Clock;
  /** null: there is no limit, and nothing holds anybody up. */
  limitBytes: number | null;
  /** What this process and its browsers have now. */
  used: () => Promise<number>;
  /** Called above the limit, to free what can be freed. */
  relieve?: () => void;
}

const LOOK_MS = 1000;
/** Once it was too much, so much of the limit has to be free again. */
const FREE_SHARE = 0.1;
const inMb = (bytes: number) => Math.round(bytes / 1024 / 1024);

/** Memory limit of this process and its browsers. Measured on demand, and not too often. */
export class MemoryLimit {
  readonly #options: MemoryLimitOptions;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | null = null;
  #used = 0;
  #since: number | null = null;
  /** What it was before anything had begun. */
  #atFirst: number | null = null;
  /** Those that were let in and have not left. */
  #inside = 0;

  constructor(options: MemoryLimitOptions) {
    this.#options = options;
  }

  get limitBytes(): number | null {
    return this.#options.limitBytes;
  }

  /** Since when it has been too much; null: it is not. */
  get since(): number | null {
    return this.#since;
  }

  async used(): Promise<number> {
    await this.#look();
    return this.#used;
  }

  /** Throws `memory_full` while it is too much. */
  async check(): Promise<void> {
    const { limitBytes } = this.#options;
    if (limitBytes === null) return;
    await this.#look();
    if (this.#since === null) return;
    throw new OrbError("memory_full", this.#words(limitBytes));
  }

  /**
   * Resolves when there is room, with what to call when it is not needed any more; rejects with the signal's reason when
   * that comes first. One is let in always, because waiting for room may be in vain.
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
      return `${is}, and this process took ${inMb(first)} MB before it had begun anything; so one task at a time is done: set it to ${inMb(2 * first)} or more`;
    return `this process and its browsers use ${inMb(this.#used)} MB of memory, and ${is}; one task at a time is done until it is ${inMb(free)} MB`;
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
