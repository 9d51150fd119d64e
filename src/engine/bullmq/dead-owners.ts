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
  /** Whether a process may still live; true when that cannot be known from here. */
  mayBeAlive(who: ProcessIdentity): boolean;
}

const LOOK_MS = 1000;

/**
 * What dead processes leave behind. Their leases end at once where it is certain that they are gone, which only a process on
 * the same machine (and in the same pid namespace) can say; otherwise by themselves. In either case their tickets come back
 * when the lease is over, and not when Redis has noticed that nobody renews them.
 */
export class DeadOwners {
  readonly #options: DeadOwnersOptions;
  #freeing = false;

  constructor(options: DeadOwnersOptions) {
    this.#options = options;
  }

  async keep(over: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    const [ending, freeing] = [new OutageLogger(log), new OutageLogger(log)];
    while (!over.aborted) {
      try {
        await this.#endLeases();
        ending.ends("the store can be asked again who works");
      } catch (error) {
        ending.begins("cannot read the owners from the store; retrying", { error: messageOf(error) });
      }
      // Redis may be away for long; an unanswered call is not awaited twice.
      if (!this.#freeing)
        void this.#freeTickets().then(
          () => freeing.ends("tickets of dead workers can be freed again"),
          (error: unknown) =>
            freeing.begins("cannot release the tickets of dead workers; retrying", { error: messageOf(error) }),
        );
      await sleep(clock, LOOK_MS, over);
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

  /** One of all processes checks. Tickets first: a process that joins in between has none yet. */
  async #freeTickets(): Promise<void> {
    const { store, producer } = this.#options;
    this.#freeing = true;
    try {
      if (!(await producer.isFirst("dead-owners", LOOK_MS / 2))) return;
      const held = await producer.heldTickets();
      if (held.length === 0) return;
      const owners = new Set((await store.owners()).map(({ owner }) => owner));
      for (const ticket of held) if (!owners.has(ticket.owner)) await producer.takeBack(ticket);
    } finally {
      this.#freeing = false;
    }
  }
}
