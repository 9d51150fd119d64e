import type { Clock } from "../base/clock.ts";
import { Signal } from "../base/signal.ts";
import type { EngineRole } from "./port.ts";

/** Whether an engine may work, and the role it reports; used by both engines. */
export class EngineLifecycle {
  readonly #options: { clock: Clock; onRole?: (role: EngineRole) => void };
  readonly #stopping = new AbortController();
  /** Raised on drain, resume and stop. */
  readonly #changed = new Signal();
  #role: EngineRole = "standby";
  /** The last role reported to `onRole`; null: none yet, although a process begins as a standby. */
  #reported: EngineRole | null = null;
  #drainRequested = false;

  constructor(options: { clock: Clock; onRole?: (role: EngineRole) => void }) {
    this.#options = options;
  }

  get role(): EngineRole {
    return this.#role;
  }

  set role(role: EngineRole) {
    if (this.#reported === role) return;
    this.#reported = role;
    this.#role = role;
    this.#options.onRole?.(role);
  }

  /** Aborted by `stop`. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  get drainRequested(): boolean {
    return this.#drainRequested;
  }

  /** False: nothing changed. */
  setDrain(drain: boolean): boolean {
    if (this.#drainRequested === drain) return false;
    this.#drainRequested = drain;
    this.#changed.raise();
    return true;
  }

  stop(): void {
    this.#stopping.abort();
    this.#changed.raise();
  }

  /** Waits while drained, until `resume` or `stop`. */
  async rest(): Promise<void> {
    if (this.#drainRequested) this.role = "drained";
    while (this.#drainRequested && !this.stopping.aborted) await this.#changed.wait(this.#options.clock, null);
  }
}
