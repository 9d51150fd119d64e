import { type Clock, sleep } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";

/** Something that must be done from time to time, whatever else happens. */
export interface Duty {
  name: string;
  everyMs: number;
  /** What may take long looks at the signal now and then. */
  run(signal: AbortSignal): Promise<void>;
}

/** Runs duties one after the other, each in its own rhythm, until it is stopped. A duty that fails is tried again. */
export class Duties {
  readonly #deps: { clock: Clock; log: Log; duties: readonly Duty[] };
  #stop: AbortController | null = null;
  #running: Promise<unknown> = Promise.resolve();

  constructor(deps: { clock: Clock; log: Log; duties: readonly Duty[] }) {
    this.#deps = deps;
  }

  start(): void {
    if (this.#stop !== null) return;
    const stop = new AbortController();
    this.#stop = stop;
    this.#running = Promise.all(this.#deps.duties.map((duty) => this.#keepUp(duty, stop.signal)));
  }

  /** Resolves when nothing of them runs any more. */
  async stop(): Promise<void> {
    this.#stop?.abort();
    this.#stop = null;
    await this.#running;
  }

  async #keepUp(duty: Duty, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps;
    while (!signal.aborted) {
      try {
        await duty.run(signal);
      } catch (error) {
        log.warn("a duty could not be done and is tried again later", { duty: duty.name, error: messageOf(error) });
      }
      await sleep(clock, duty.everyMs, signal);
    }
  }
}
