/** A lane in line for slots. */
export interface SlotSeeker {
  /** Slots in use or reserved. */
  readonly slotsHeld: number;
  /** Called when a slot has been set aside for this seeker; it must use it or release it. */
  slotGranted(): void;
}

/**
 * The tasks in flight in this process, over all lanes. Freed slots go to the waiting lane with the fewest, as many as
 * it asked for: many tasks often end at the same moment, and a lane that happens to run first must not get them all.
 */
export class Slots {
  readonly #most: () => number;
  #used = 0;
  /** How many more each seeker could use, in the order in which they came. */
  readonly #waiting = new Map<SlotSeeker, number>();
  readonly #later: (look: () => void) => void;
  #looksLater = false;

  /**
   * `most` is the current limit, at least one; it is read whenever a slot is requested or released, and now and then
   * while a lane waits, because it may change on its own. `later` schedules a callback.
   */
  constructor(most: (used: number) => number, later: (look: () => void) => void = () => {}) {
    this.#most = () => most(this.#used);
    this.#later = later;
  }

  get used(): number {
    return this.#used;
  }

  /** Takes a slot now, or puts the seeker in line for as many as it could use. */
  take(seeker: SlotSeeker, wanted = 1): boolean {
    if (this.#waiting.size === 0 && this.#used < this.#most()) {
      this.#used += 1;
      return true;
    }
    this.#waiting.set(seeker, wanted);
    // There may be more slots than when the others came.
    this.#grant();
    this.#lookLater();
    return false;
  }

  /** If all running tasks take long, nothing else would notice that the limit has risen. */
  #lookLater(): void {
    if (this.#looksLater || this.#waiting.size === 0) return;
    this.#looksLater = true;
    this.#later(() => {
      this.#looksLater = false;
      this.#grant();
      this.#lookLater();
    });
  }

  leaveLine(seeker: SlotSeeker): void {
    this.#waiting.delete(seeker);
  }

  release(): void {
    this.#used -= 1;
    this.#grant();
  }

  /** There may be more of them now. */
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
    for (const one of this.#waiting.keys()) if (least === null || one.slotsHeld < least.slotsHeld) least = one;
    const next = least!;
    const wanted = (this.#waiting.get(next) ?? 1) - 1;
    // Behind the others in line, so that those with equally few take turns.
    this.#waiting.delete(next);
    if (wanted > 0) this.#waiting.set(next, wanted);
    return next;
  }
}
