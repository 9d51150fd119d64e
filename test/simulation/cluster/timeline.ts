import type { Clock } from "../../../src/base/clock.ts";
import { Agenda, type Due } from "../agenda.ts";

/** Whose events wait while it is frozen, and never come once it is dead. */
export interface Being {
  alive: boolean;
  frozenUntil: number;
  /** Its open transactions that wait for it; the server hears of its death. */
  transactions: Set<{ died(): void }>;
}

interface Event extends Due {
  by: Being | null;
  fn: () => void;
}

/** The time of a simulated cluster. Everything happens in turn and at once: nothing waits for real time. */
export class Timeline implements Clock {
  #time = 0;
  #order = 0;
  readonly #agenda = new Agenda<Event>();
  steps = 0;

  now(): number {
    return this.#time;
  }

  monotonic(): number {
    return this.#time;
  }

  /** The product's rules ask for the time alone: what they would do later is done by the simulation. */
  after(): never {
    throw new Error("no rule of the simulation sets a timer");
  }

  at(delay: number, by: Being | null, fn: () => void): void {
    this.#agenda.push({ at: this.#time + Math.max(0, delay), order: this.#order++, by, fn });
  }

  run(done: () => boolean, untilMs: number): void {
    while (!done()) {
      const event = this.#agenda.pop();
      if (event === undefined) throw new Error("nothing is left to happen, and the work is not done");
      const { by } = event;
      if (by !== null && !by.alive) continue;
      if (by !== null && by.frozenUntil > event.at) {
        event.at = by.frozenUntil;
        event.order = this.#order++;
        this.#agenda.push(event);
        continue;
      }
      this.#time = event.at;
      if (this.#time > untilMs) throw new Error(`the work was not done within ${untilMs / 1000} simulated seconds`);
      this.steps += 1;
      event.fn();
    }
  }
}
