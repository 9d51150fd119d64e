import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { OutageLogger } from "../base/outage-logger.ts";
import type { OwnerStore } from "../store/ports/owner-port.ts";

/** How urgent the work of lanes is, as the store knows it. */
export class Urgency {
  readonly #store: Pick<OwnerStore, "lanePriorities">;
  readonly #outages: OutageLogger;

  constructor({ store, log }: { store: Pick<OwnerStore, "lanePriorities">; log: Log }) {
    this.#store = store;
    this.#outages = new OutageLogger(log);
  }

  /** In the order of the lanes. Nothing, when it cannot be asked: that is no reason to give them no place in the line. */
  async of(lanes: readonly string[]): Promise<readonly number[]> {
    try {
      const priorities = await this.#store.lanePriorities(lanes);
      this.#outages.ends("how urgent lanes are can be asked again");
      return priorities;
    } catch (error) {
      this.#outages.begins(
        "how urgent lanes are cannot be asked; they have their turns in the order in which they came",
        {
          error: messageOf(error),
        },
      );
      return [];
    }
  }
}
