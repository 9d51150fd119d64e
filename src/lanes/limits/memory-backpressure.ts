import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";

/**
 * The process exceeds its memory limit. Its idle usage may already exceed it, so waiting would never end: running tasks
 * finish, and new ones start one at a time.
 */
export class MemoryBackpressure {
  readonly #deps: { clock: Clock; log: Log; onEnd: () => void };
  #reason: string | null = null;
  #since: number | null = null;

  constructor(deps: { clock: Clock; log: Log; onEnd: () => void }) {
    this.#deps = deps;
  }

  /** The latest error; null: none. */
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
    this.#deps.log.error("memory limit exceeded: running one task at a time", { reason: this.#reason });
  }

  over(): void {
    if (this.#since === null) return;
    this.#reason = null;
    this.#since = null;
    this.#deps.log.info("memory usage is below the limit again: normal concurrency restored");
    this.#deps.onEnd();
  }
}
