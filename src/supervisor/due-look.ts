import type { Clock } from "../base/clock.ts";
import type { DutiesDue } from "../store/ports/duty-port.ts";
import type { Store } from "../store/ports/port.ts";

/** Duties that start at about the same time share one query. */
const SHARED_MS = 100;

/** Queries what is due, once for all duties of a process that ask at about the same time. */
export class DueLook {
  readonly #store: Pick<Store, "dutiesDue">;
  readonly #clock: Clock;
  #last: { due: Promise<DutiesDue>; until: number } | null = null;

  constructor({ store, clock }: { store: Pick<Store, "dutiesDue">; clock: Clock }) {
    this.#store = store;
    this.#clock = clock;
  }

  due(): Promise<DutiesDue> {
    const now = this.#clock.monotonic();
    if (this.#last === null || this.#last.until < now)
      this.#last = { due: this.#store.dutiesDue(this.#clock.now()), until: now + SHARED_MS };
    return this.#last.due;
  }

  /** More may be due than the last query found. */
  forget(): void {
    this.#last = null;
  }

  /** Milliseconds until duties of this interval run next: all at the same moments, however long each takes. */
  untilNext(everyMs: number): number {
    const leftMs = everyMs - (this.#clock.monotonic() % everyMs);
    // A timer may fire slightly early: that moment has already been handled.
    return leftMs < everyMs / 10 ? leftMs + everyMs : leftMs;
  }
}
