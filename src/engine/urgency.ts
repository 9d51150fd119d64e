import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { OutageLogger } from "../base/outage-logger.ts";
import type { OwnerStore } from "../store/ports/owner-port.ts";

/** Reads lane priorities from the store. */
export class Urgency {
  readonly #store: Pick<OwnerStore, "lanePriorities">;
  readonly #outages: OutageLogger;

  constructor({ store, log }: { store: Pick<OwnerStore, "lanePriorities">; log: Log }) {
    this.#store = store;
    this.#outages = new OutageLogger(log);
  }

  /** Priorities in the order of the lanes. Empty when they cannot be read: the lanes are queued all the same. */
  async of(lanes: readonly string[]): Promise<readonly number[]> {
    try {
      const priorities = await this.#store.lanePriorities(lanes);
      this.#outages.ends("lane priorities can be read again");
      return priorities;
    } catch (error) {
      this.#outages.begins("lane priorities cannot be read; lanes are served in order of arrival", {
        error: messageOf(error),
      });
      return [];
    }
  }
}
