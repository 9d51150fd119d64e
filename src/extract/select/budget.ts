/**
 * Users' rules run on untrusted pages. A step count, not a clock, bounds them: the same page and rule always end the
 * same way.
 */
import { LimitExceeded } from "../../base/time-limit.ts";

/** Somewhat below a second of CPU; a selector over the largest possible tree needs a fiftieth of it. */
const STEPS_PER_PAGE = 50_000_000;

/** A thread reads one page at a time, synchronously, so one counter suffices. */
class Budget {
  #left = STEPS_PER_PAGE;

  reset(steps = STEPS_PER_PAGE): void {
    this.#left = steps;
  }

  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new LimitExceeded("took too many steps on this page");
  }
}

export const budget = new Budget();
