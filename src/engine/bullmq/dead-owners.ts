import { type Clock, sleep } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { ProcessIdentity } from "../../base/machine.ts";
import { OutageLogger } from "../../base/outage-logger.ts";
import type { Store } from "../../store/ports/port.ts";
import type { TicketProducer } from "./ticket-producer.ts";

interface DeadOwnersOptions {
  store: Store;
  producer: TicketProducer;
  clock: Clock;
  log: Log;
  owner: string;
  /** Whether a process may be alive; true when that cannot be known from here. */
  mayBeAlive(who: ProcessIdentity): boolean;
}

const CHECK_MS = 1000;

/**
 * Cleans up after dead processes. A process on the same machine (and in the same pid namespace) can be sure that one is
 * dead and ends its lease at once; other leases expire. Either way the tickets are reissued when the lease is over, not
 * only when Redis notices that they are no longer renewed.
 */
export class DeadOwners {
  readonly #options: DeadOwnersOptions;
  #releasing = false;

  constructor(options: DeadOwnersOptions) {
    this.#options = options;
  }

  async keep(over: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    const [ending, releasing] = [new OutageLogger(log), new OutageLogger(log)];
    while (!over.aborted) {
      try {
        await this.#endLeases();
        ending.ends("the owners can be read from the store again");
      } catch (error) {
        ending.begins("cannot read the owners from the store; retrying", { error: messageOf(error) });
      }
      // Redis may be down for long: only one call is open at a time.
      if (!this.#releasing)
        void this.#releaseTickets().then(
          () => releasing.ends("tickets of dead workers can be released again"),
          (error: unknown) =>
            releasing.begins("cannot release the tickets of dead workers; retrying", { error: messageOf(error) }),
        );
      await sleep(clock, CHECK_MS, over);
    }
  }

  async #endLeases(): Promise<void> {
    const { store, log, owner, mayBeAlive } = this.#options;
    for (const { owner: name, identity } of await store.owners()) {
      if (name === owner || identity === null || mayBeAlive(identity)) continue;
      log.warn("a worker on this machine is dead; its lanes are free", { pid: identity.pid });
      await store.leaveOwners(name);
    }
  }

  /** One process of the deployment checks. Tickets are read first: a process that joins in between has none yet. */
  async #releaseTickets(): Promise<void> {
    const { store, producer } = this.#options;
    this.#releasing = true;
    try {
      if (!(await producer.isFirst("dead-owners", CHECK_MS / 2))) return;
      const held = await producer.heldTickets();
      if (held.length === 0) return;
      const owners = new Set((await store.owners()).map(({ owner }) => owner));
      for (const ticket of held) if (!owners.has(ticket.owner)) await producer.reissue(ticket);
    } finally {
      this.#releasing = false;
    }
  }
}
