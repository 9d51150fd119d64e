import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";

/**
 * The process uses more than it may have. Waiting for less would be in vain where it needs that much when it does
 * nothing: so what runs is finished, and one task at a time is begun.
 */
export class MemoryBackpressure {
  readonly #deps: { clock: Clock; log: Log; onEnd: () => void };
  #reason: string | null = null;
  #since: number | null = null;

  constructor(deps: { clock: Clock; log: Log; onEnd: () => void }) {
    this.#deps = deps;
  }

  /** As it was found last. */
  get reason(): string | null {
    return this.#reason;
  }

  get since(): number | null {
    return this.#since;
  }

  found(error: unknown): void {
    this.#reason = messageOf(error);
    if (this.#since !== null) return;
    this.#since = this.#deps.clock.now();
    this.#deps.log.error("one task at a time, until memory is free again", { reason: this.#reason });
  }

  over(): void {
    if (this.#since === null) return;
    this.#reason = null;
    this.#since = null;
    this.#deps.log.info("memory is free again; as many tasks at once as before");
    this.#deps.onEnd();
  }
}
