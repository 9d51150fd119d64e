export interface SlotSeeker {
  /** Slots in use or reserved. */
  readonly slotsHeld: number;
  /** Called when a slot is reserved for this seeker, which must use or release it. */
  slotGranted(): void;
}

/**
 * Limits the tasks in flight in this process, over all lanes. A freed slot goes to the waiting lane with the fewest: many
 * tasks often end at the same moment, and the lane that happens to run first must not get all of their slots.
 */
export class Slots {
  readonly #most: () => number;
  #used = 0;
  /** How many more slots each seeker could use, in order of arrival. */
  readonly #waiting = new Map<SlotSeeker, number>();
  readonly #later: (check: () => void) => void;
  #checkScheduled = false;

  /**
   * `most` returns the current limit, at least one; it is read whenever a slot is requested or released, and periodically
   * while a lane waits, because it may change by itself. `later` schedules a callback.
   */
  constructor(most: (used: number) => number, later: (check: () => void) => void = () => {}) {
    this.#most = () => most(this.#used);
    this.#later = later;
  }

  get used(): number {
    return this.#used;
  }

  /** Takes a slot; false: the seeker waits in line for as many as it could use. */
  take(seeker: SlotSeeker, wanted = 1): boolean {
    if (this.#waiting.size === 0 && this.#used < this.#most()) {
      this.#used += 1;
      return true;
    }
    this.#waiting.set(seeker, wanted);
    // The limit may have risen since the others asked.
    this.#grant();
    this.#checkLater();
    return false;
  }

  /** While all running tasks take long, nothing else would notice that the limit has risen. */
  #checkLater(): void {
    if (this.#checkScheduled || this.#waiting.size === 0) return;
    this.#checkScheduled = true;
    this.#later(() => {
      this.#checkScheduled = false;
      this.#grant();
      this.#checkLater();
    });
  }

  leaveLine(seeker: SlotSeeker): void {
    this.#waiting.delete(seeker);
  }

  release(): void {
    this.#used -= 1;
    this.#grant();
  }

  /** The limit may have risen. */
  lookAgain(): void {
    this.#grant();
  }

  #grant(): void {
    if (this.#waiting.size === 0) return;
    for (let free = this.#most() - this.#used; free > 0 && this.#waiting.size > 0; free -= 1) {
      this.#used += 1;
      this.#next().slotGranted();
    }
  }

  #next(): SlotSeeker {
    let least: SlotSeeker | null = null;
    for (const seeker of this.#waiting.keys()) if (least === null || seeker.slotsHeld < least.slotsHeld) least = seeker;
    const next = least!;
    const wanted = (this.#waiting.get(next) ?? 1) - 1;
    // To the end of the line, so that seekers with equally few take turns.
    this.#waiting.delete(next);
    if (wanted > 0) this.#waiting.set(next, wanted);
    return next;
  }
}
