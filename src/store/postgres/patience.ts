/** Steps, as each becomes a statement of the connection. */
const STEPS_MS = [250, 500, 1000, 2000];
/** So many times as long as a transaction of this process takes. */
const TIMES = 8;
/** How much the newest transaction counts. */
const WEIGHT = 0.2;
/** After a wait in vain. */
const IMPATIENT_MS = 5000;

/**
 * How long a transaction waits for runs that others have locked before it leaves them out. Usually they are free soon, and
 * trying again would cost more than waiting; the busier the database, the longer that takes. One that stays locked is
 * waited for once in a while only.
 */
export class Patience {
  readonly #now: () => number;
  #typicalMs = 0;
  #impatientUntil = Number.NEGATIVE_INFINITY;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Of a transaction that was committed, waits for locks included. */
  took(ms: number): void {
    this.#typicalMs += (ms - this.#typicalMs) * WEIGHT;
  }

  /** It waited in vain. */
  lose(): void {
    this.#impatientUntil = this.#now() + IMPATIENT_MS;
  }

  /** null: not at all. */
  get waitMs(): number | null {
    if (this.#now() < this.#impatientUntil) return null;
    return STEPS_MS.find((ms) => ms >= TIMES * this.#typicalMs) ?? (STEPS_MS.at(-1) as number);
  }
}
