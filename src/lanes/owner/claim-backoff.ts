import type { Clock } from "../../base/clock.ts";

const SHORTEST_MS = 50;
const LONGEST_MS = 2000;

/** Pauses the claims of a lane whose runs others have locked: longer each time, so that a busy database gets fewer. */
export class ClaimBackoff {
  readonly #clock: Pick<Clock, "monotonic">;
  #pauseMs = 0;
  #until = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** Whether a claim found nothing but locked runs. */
  report(isBusy: boolean): boolean {
    this.#pauseMs = isBusy ? Math.min(LONGEST_MS, Math.max(SHORTEST_MS, 2 * this.#pauseMs)) : 0;
    this.#until = this.#clock.monotonic() + this.#pauseMs;
    return isBusy;
  }

  /** Until the next claim; null: it need not wait. */
  get waitMs(): number | null {
    const ms = this.#until - this.#clock.monotonic();
    return ms > 0 ? ms : null;
  }
}
