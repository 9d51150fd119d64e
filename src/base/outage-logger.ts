import type { Log, LogFields } from "./log.ts";

/** Logs an outage once when it starts, with the fallback, and once when it ends. */
export class OutageLogger {
  readonly #log: Log;
  #isOngoing = false;

  constructor(log: Log) {
    this.#log = log;
  }

  begins(message: string, fields: LogFields): void {
    if (!this.#isOngoing) this.#log.warn(message, fields);
    this.#isOngoing = true;
  }

  ends(message: string): void {
    if (this.#isOngoing) this.#log.info(message);
    this.#isOngoing = false;
  }
}
