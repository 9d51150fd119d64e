/** A place in line for a slot. */
export interface SlotSeeker {
  /** Called when a slot has been set aside for this seeker; it must use it or release it. */
  slotGranted(): void;
}

/**
 * The tasks in flight in this process, over all lanes. When there are fewer slots than lanes want, freed slots go
 * to the seekers in the order in which they asked, so that no lane starves another.
 */
export class Slots {
  readonly #limit: number;
  #used = 0;
  readonly #waiting = new Set<SlotSeeker>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get used(): number {
    return this.#used;
  }

  /** Takes a slot now, or puts the seeker in line. */
  take(seeker: SlotSeeker): boolean {
    if (this.#used < this.#limit && this.#waiting.size === 0) {
      this.#used += 1;
      return true;
    }
    this.#waiting.add(seeker);
    return false;
  }

  leaveLine(seeker: SlotSeeker): void {
    this.#waiting.delete(seeker);
  }

  release(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#used -= 1;
      return;
    }
    this.#waiting.delete(next);
    next.slotGranted();
  }
}
