const LEAST_MS = 250;
const MOST_MS = 2000;
/** So many times as long as a transaction of this process takes. */
const TIMES = 8;
/** How much the newest transaction counts. */
const WEIGHT = 0.2;

/**
 * How long a transaction waits for runs that others have locked before it leaves them out. Usually they are free soon, and
 * trying again would cost more than waiting; the busier the database, the longer that takes.
 */
export class Patience {
  #typicalMs = 0;

  /** Of a transaction that was committed, waits included. */
  took(ms: number): void {
    this.#typicalMs += (ms - this.#typicalMs) * WEIGHT;
  }

  get waitMs(): number {
    return Math.min(MOST_MS, Math.max(LEAST_MS, TIMES * this.#typicalMs));
  }
}
