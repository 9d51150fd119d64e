import type { Log, LogFields } from "./log.ts";

/** Something that may stop working for a while. It is said once that it does not and what is done instead, and once that it does again. */
export class OutageLogger {
  readonly #log: Log;
  #there = false;

  constructor(log: Log) {
    this.#log = log;
  }

  begins(message: string, fields: LogFields): void {
    if (!this.#there) this.#log.warn(message, fields);
    this.#there = true;
  }

  ends(message: string): void {
    if (this.#there) this.#log.info(message);
    this.#there = false;
  }
}
