/**
 * What users write runs against what strangers serve. A count of steps, not a clock, ends what runs wild: the same page
 * and the same rule always end the same way.
 */
import { LimitExceeded } from "../../base/time-limit.ts";

/** Somewhat below a second of CPU; a selector over the largest tree that is kept needs a fiftieth of it. */
const STEPS_PER_PAGE = 50_000_000;

/** One page is read at a time, start to end, without a pause: one counter serves all. */
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
