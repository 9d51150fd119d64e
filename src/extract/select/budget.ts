/**
 * What users write runs against what strangers serve. A count of steps, not a clock, ends what runs wild: the same page
 * and the same rule always end the same way.
 */
import { createContext, Script } from "node:vm";

export class LimitExceeded extends Error {
  constructor(what: string) {
    super(what);
    this.name = "LimitExceeded";
  }
}

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

const TIME_LIMIT_MS = 1000;
let work: () => void = () => {};
const sandbox = createContext({ run: () => work() });
const call = new Script("run()");

/**
 * For the libraries whose steps cannot be counted. Costs 0.2 ms (a thread that watches), so only what can run long goes
 * through it. Only the call is in the script; nothing of a user's becomes code.
 */
export function withTimeLimit<T>(fn: () => T): T {
  let result: T | undefined;
  work = () => {
    result = fn();
  };
  try {
    call.runInContext(sandbox, { timeout: TIME_LIMIT_MS });
    return result as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_SCRIPT_EXECUTION_TIMEOUT") {
      throw new LimitExceeded(`took longer than ${TIME_LIMIT_MS} ms on this page`);
    }
    throw error;
  } finally {
    work = () => {};
  }
}
