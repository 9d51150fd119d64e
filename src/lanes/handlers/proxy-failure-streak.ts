import { Recent } from "../../domain/lane/recent.ts";

const MOST_RUNS = 1_000;
/** Attempts further apart are separate streaks: something else has held up the run. */
const MAX_GAP_MS = 10_000;

interface RunAttempts {
  /** The last success, as far as this process knows. */
  succeededAt: number;
  /** The current streak of failed attempts; null: none. */
  streak: { since: number; until: number } | null;
}

/** How long runs have tried one proxy after the other without success. */
export class ProxyFailureStreak {
  readonly #runs = new Recent<RunAttempts>(MOST_RUNS);

  /** An attempt succeeded, or the run is held: the streak ends. */
  reset(runId: string, now: number): void {
    this.#runs.set(runId, { succeededAt: now, streak: null });
  }

  /** Records a failed attempt; returns how long the streak has lasted. */
  failed(runId: string, startedAt: number, now: number): number {
    const { succeededAt, streak } = this.#runs.get(runId) ?? { succeededAt: startedAt, streak: null };
    const since =
      streak !== null && startedAt - streak.until <= MAX_GAP_MS ? streak.since : Math.max(startedAt, succeededAt);
    this.#runs.set(runId, { succeededAt, streak: { since, until: now } });
    return now - since;
  }
}
