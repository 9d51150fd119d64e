/** Ended pages by outcome. */
export interface Ended {
  good: number;
  bad: number;
}

interface Sample extends Ended {
  at: number;
}

const WINDOW_MS = 10_000;
/** Shorter intervals are too inaccurate. */
const ENOUGH_MS = 900;

/** A rate from sampled counts over the last ten seconds. */
export class Pace {
  #samples: Sample[] = [];

  /** `at` is monotonic time. */
  note(at: number, { good, bad }: Ended): void {
    const last = this.#samples.at(-1);
    // Counts fall when runs are deleted or failed tasks retried: earlier samples no longer apply.
    if (last !== undefined && (good < last.good || bad < last.bad)) this.#samples = [];
    this.#samples.push({ at, good, bad });
    // Keeps one sample from before the window as its baseline.
    while ((this.#samples[1]?.at ?? at) <= at - WINDOW_MS) this.#samples.shift();
  }

  /** Per second; null: too few samples. */
  read(): Ended | null {
    const [first] = this.#samples;
    const last = this.#samples.at(-1);
    if (first === undefined || last === undefined || last.at - first.at < ENOUGH_MS) return null;
    const seconds = (last.at - first.at) / 1000;
    return { good: (last.good - first.good) / seconds, bad: (last.bad - first.bad) / seconds };
  }
}
