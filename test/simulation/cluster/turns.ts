import { Patience } from "../../../src/store/postgres/patience.ts";
import type { Database, Write } from "./database.ts";
import type { Being, Timeline } from "./timeline.ts";

/** Claims and settles of a worker as the product's store executes them: they wait a little before they leave runs out. */
export class Turns {
  readonly #by: Being;
  readonly #timeline: Timeline;
  readonly #database: Database;
  readonly #patience = new Patience();
  /** Lanes and settlers that waited in vain: they try, until they find all runs free. */
  readonly #impatient = new WeakSet<object>();

  constructor(by: Being, timeline: Timeline, database: Database) {
    this.#by = by;
    this.#timeline = timeline;
    this.#database = database;
  }

  /** It waited for a run elsewhere, and got it. */
  calm(who: object): void {
    this.#impatient.delete(who);
  }

  write(write: Write, who: object, isBusy: () => boolean): void {
    const asked = this.#timeline.now();
    const done = () => {
      this.#patience.took(this.#timeline.now() - asked);
      if (!isBusy()) this.#impatient.delete(who);
      write.done();
    };
    const attempt = () => this.#database.write(this.#by, { ...write, turn: "try", done });
    if (this.#impatient.has(who)) return attempt();
    const failed = () => {
      this.#impatient.add(who);
      attempt();
    };
    this.#database.write(this.#by, { ...write, turn: { soonMs: this.#patience.waitMs }, done, failed });
  }
}
