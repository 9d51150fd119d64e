import { WRITERS } from "../../../src/store/postgres/limits.ts";
import { Patience } from "../../../src/store/postgres/patience.ts";
import type { Database, Write } from "./database.ts";
import { Fifo } from "./fifo.ts";
import type { Being, Timeline } from "./timeline.ts";

/** Claims and settles of a worker as the product's store executes them: they wait a little before they leave runs out. */
export class Turns {
  readonly #by: Being;
  readonly #timeline: Timeline;
  readonly #database: Database;
  readonly #patience: Record<"claim" | "settle", Patience>;
  readonly #line = new Fifo<Write>();
  #claims = 0;

  constructor(by: Being, timeline: Timeline, database: Database) {
    this.#by = by;
    this.#timeline = timeline;
    this.#database = database;
    const now = () => timeline.now();
    this.#patience = { claim: new Patience(now), settle: new Patience(now) };
  }

  settle(write: Write): void {
    this.#write(write, this.#patience.settle);
  }

  claim(write: Write): void {
    if (this.#claims === WRITERS) return this.#line.push(write);
    this.#claims += 1;
    const end = () => {
      this.#claims -= 1;
      const next = this.#line.shift();
      if (next !== undefined) this.claim(next);
    };
    const done = () => {
      end();
      write.done();
    };
    const failed = () => {
      end();
      write.failed();
    };
    this.#write({ ...write, done, failed }, this.#patience.claim);
  }

  #write(write: Write, patience: Patience): void {
    const timed = (turn: NonNullable<Write["turn"]>, failed: () => void) => {
      const asked = this.#timeline.now();
      const done = () => {
        patience.took(this.#timeline.now() - asked);
        write.done();
      };
      this.#database.write(this.#by, { ...write, turn, done, failed });
    };
    const { waitMs } = patience;
    if (waitMs === null) return timed("try", write.failed);
    timed({ soonMs: waitMs }, () => {
      patience.lose();
      timed("try", write.failed);
    });
  }
}
