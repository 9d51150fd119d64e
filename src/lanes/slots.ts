/** A lane in line for slots. */
export interface SlotSeeker {
  /** Slots it has now, used or set aside for it. */
  readonly slotsHeld: number;
  /** Called when a slot has been set aside for this seeker; it must use it or release it. */
  slotGranted(): void;
}

/**
 * The tasks in flight in this process, over all lanes. Freed slots go to whoever waits and has the fewest, as many as
 * it asked for: many tasks often end at the same moment, and a lane that happens to run first must not get them all.
 */
export class Slots {
  readonly #limit: number;
  #used = 0;
  /** How many more each seeker could use, in the order in which they came. */
  readonly #waiting = new Map<SlotSeeker, number>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get used(): number {
    return this.#used;
  }

  /** Takes a slot now, or puts the seeker in line for as many as it could use. */
  take(seeker: SlotSeeker, wanted = 1): boolean {
    if (this.#used < this.#limit && this.#waiting.size === 0) {
      this.#used += 1;
      return true;
    }
    this.#waiting.set(seeker, wanted);
    return false;
  }

  leaveLine(seeker: SlotSeeker): void {
    this.#waiting.delete(seeker);
  }

  release(): void {
    let next: SlotSeeker | null = null;
    for (const seeker of this.#waiting.keys()) if (next === null || seeker.slotsHeld < next.slotsHeld) next = seeker;
    if (next === null) {
      this.#used -= 1;
      return;
    }
    const wanted = (this.#waiting.get(next) ?? 1) - 1;
    // Behind the others in line, so that those with equally few take turns.
    this.#waiting.delete(next);
    if (wanted > 0) this.#waiting.set(next, wanted);
    next.slotGranted();
  }
}
