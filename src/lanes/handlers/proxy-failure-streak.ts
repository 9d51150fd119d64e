import { Recent } from "../../domain/lane/recent.ts";

const MOST_RUNS = 1_000;
/** Tries that lie further apart are not one time of trying: something else has kept the run from its work. */
const LONGEST_GAP_MS = 10_000;

interface Tries {
  /** When something last came of the run, as far as this process knows. */
  fruitAt: number;
  /** The current streak of failed attempts, from and to; null: none. */
  vain: { since: number; until: number } | null;
}

/** How long runs have tried one proxy after the other, and nothing came of it. */
export class ProxyFailureStreak {
  readonly #runs = new Recent<Tries>(MOST_RUNS);

  /** An attempt succeeded, or the run begins to wait: the streak ends. */
  anew(runId: string, now: number): void {
    this.#runs.set(runId, { fruitAt: now, vain: null });
  }

  /** Records an attempt that began at that time and failed; returns how long the streak lasts. */
  inVain(runId: string, begunAt: number, now: number): number {
    const { fruitAt, vain } = this.#runs.get(runId) ?? { fruitAt: begunAt, vain: null };
    const since = vain !== null && begunAt - vain.until <= LONGEST_GAP_MS ? vain.since : Math.max(begunAt, fruitAt);
    this.#runs.set(runId, { fruitAt, vain: { since, until: now } });
    return now - since;
  }
}
