import { type Clock, sleep } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Reading } from "../orchestrator/reading.ts";

interface MetricsPushDeps {
  clock: Clock;
  log: Log;
  everyMs: number;
  read: () => Promise<readonly Reading[]>;
  send: (readings: readonly Reading[]) => Promise<unknown>;
}

/** Sends the metrics of `GET /metrics` at an interval, and once more at the end. */
export class MetricsPush {
  readonly #deps: MetricsPushDeps;
  readonly #stop = new AbortController();
  readonly #pushing: Promise<void>;

  constructor(deps: MetricsPushDeps) {
    this.#deps = deps;
    this.#pushing = this.#push();
  }

  async #push(): Promise<void> {
    const { clock, everyMs, read, send, log } = this.#deps;
    while (!this.#stop.signal.aborted) {
      await sleep(clock, everyMs, this.#stop.signal);
      try {
        await send(await read());
      } catch (error) {
        log.warn("metrics could not be read for the OpenTelemetry collector", { error: messageOf(error) });
      }
    }
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#pushing;
  }
}
