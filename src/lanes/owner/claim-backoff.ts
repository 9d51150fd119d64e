import type { Clock } from "../../base/clock.ts";

const SHORTEST_MS = 50;
const LONGEST_MS = 2000;

/** Pauses the claims of a lane whose runs others have locked: longer each time, so that a busy database gets fewer. */
export class ClaimBackoff {
  readonly #clock: Pick<Clock, "monotonic">;
  #pauseMs = 0;
  /** When the next claim is due; null: it need not wait. */
  #dueAt: number | null = null;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** Whether a claim found nothing but locked runs. */
  report(isBusy: boolean): boolean {
    this.#pauseMs = isBusy ? Math.min(LONGEST_MS, Math.max(SHORTEST_MS, 2 * this.#pauseMs)) : 0;
    this.#dueAt = isBusy ? this.#clock.monotonic() + this.#pauseMs : null;
    return isBusy;
  }

  /** Whether it is too early for a claim. Not asked again once it is time, as the lane may want none then. */
  isEarly(): boolean {
    if (this.#dueAt !== null && this.#dueAt <= this.#clock.monotonic()) this.#dueAt = null;
    return this.#dueAt !== null;
  }

  /** Until the lane has to look again, even if that is now; null: nothing is due. */
  get waitMs(): number | null {
    return this.#dueAt === null ? null : Math.max(1, this.#dueAt - this.#clock.monotonic());
  }
}
