const FIRST_MS = 250;
/** The lane starts nothing meanwhile. */
const MOST_MS = 2000;

/**
 * Claims of a process that wait for runs that others have locked: one at a time, as outcomes wait on the same connection.
 * After one that waited in vain the next waits longer, as whoever leaves the line loses the place in it.
 */
export class ClaimTurns {
  #isTaken = false;
  #waitMs = FIRST_MS;

  /** How long to wait; null: another claim waits. */
  begin(): number | null {
    if (this.#isTaken) return null;
    this.#isTaken = true;
    return this.#waitMs;
  }

  end(isInVain: boolean): void {
    this.#isTaken = false;
    this.#waitMs = isInVain ? Math.min(MOST_MS, 2 * this.#waitMs) : FIRST_MS;
  }
}
