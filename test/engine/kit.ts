import assert from "node:assert/strict";
import type { LaneHost, LaneTicket, TicketEnd } from "../../src/engine/port.ts";
import { settled } from "../support/fake-clock.ts";

/** A ticket that the host was given and has not ended. */
interface Open {
  ticket: LaneTicket;
  end(result: TicketEnd): void;
  fail(error: Error): void;
}

export const NOTHING: TicketEnd = { more: false, wakeAt: null };
export const MORE: TicketEnd = { more: true, wakeAt: null };

/** Does no work: the test says when and how each lane's turn ends. */
export class ScriptedHost implements LaneHost {
  readonly started: string[] = [];
  readonly #open = new Map<string, Open>();
  /** Ends by itself what was asked to stop, as every well-behaved host does. */
  obedient = true;
  readonly resting = false;

  watchRest(): () => void {
    return () => {};
  }

  work(ticket: LaneTicket): Promise<TicketEnd> {
    assert.ok(!this.#open.has(ticket.lane), `${ticket.lane} is worked on twice at once`);
    this.started.push(ticket.lane);
    return new Promise((resolve, reject) => {
      const close = <T>(then: (value: T) => void) => {
        return (value: T) => {
          this.#open.delete(ticket.lane);
          then(value);
        };
      };
      this.#open.set(ticket.lane, { ticket, end: close(resolve), fail: close(reject) });
      for (const signal of [ticket.hurry, ticket.fence]) {
        signal.addEventListener("abort", () => {
          if (this.obedient) this.#open.get(ticket.lane)?.end(NOTHING);
        });
      }
    });
  }

  get lanes(): string[] {
    return [...this.#open.keys()];
  }

  ticket(lane: string): LaneTicket {
    return this.#get(lane).ticket;
  }

  async end(lane: string, result: TicketEnd = NOTHING): Promise<void> {
    this.#get(lane).end(result);
    await settled();
  }

  async fail(lane: string): Promise<void> {
    this.#get(lane).fail(new Error("the host broke"));
    await settled();
  }

  #get(lane: string): Open {
    const open = this.#open.get(lane);
    assert.ok(open !== undefined, `${lane} is not worked on; at work: ${this.lanes.join(", ")}`);
    return open;
  }
}

/** Whether a promise is done, without waiting for it. */
export async function isDone(promise: Promise<unknown>): Promise<boolean> {
  let done = false;
  promise.then(
    () => (done = true),
    () => (done = true),
  );
  await settled();
  return done;
}
