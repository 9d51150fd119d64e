import type { FoundEvent, NewAlert } from "../store/ports/alert-port.ts";

const WINDOW_MS = 60_000;
/** A run's end may be written a little after the time it bears. */
const LATE_MS = 2000;
/** So many of a minute are told one by one. */
export const TOLD_ONE_BY_ONE = 10;
const MOST_NAMED = 100;

interface Minute {
  /** What had been looked at before its first one. */
  before: string;
  told: number;
  more: FoundEvent[];
}

/**
 * Failed runs by the minute: the first few are told one by one, the others together when the minute is over, so that a
 * flood of them neither hides nor delays anything else. Whoever looks at the same events comes to the same alerts.
 */
export class FailedRuns {
  readonly #minutes = new Map<number, Minute>();

  /** What has to be looked at again after a restart begins behind this; null: nothing has. */
  get heldAt(): string | null {
    return this.#minutes.values().next().value?.before ?? null;
  }

  /** true: this one is told by itself. */
  note(event: FoundEvent, before: string): boolean {
    const start = event.createdAt - (event.createdAt % WINDOW_MS);
    const minute = this.#minutes.get(start) ?? { before, told: 0, more: [] };
    this.#minutes.set(start, minute);
    if (minute.told < TOLD_ONE_BY_ONE) minute.told += 1;
    else {
      minute.more.push(event);
      return false;
    }
    return true;
  }

  /** What is told of minutes that are over. */
  over(now: number): NewAlert[] {
    const alerts: NewAlert[] = [];
    for (const [start, { more }] of this.#minutes) {
      // A minute that lies ahead was written before the clock was set back.
      if (now < start + WINDOW_MS + LATE_MS && now > start - WINDOW_MS) continue;
      this.#minutes.delete(start);
      if (more.length > 0) alerts.push(moreFailed(more));
    }
    return alerts;
  }
}

function moreFailed(events: readonly FoundEvent[]): NewAlert {
  const [from, until] = [events[0], events.at(-1)].map((event) => new Date(event?.createdAt ?? 0).toISOString());
  const count = events.length;
  return {
    kind: "run_failed",
    subject: "many",
    message: `Runs failed: ${count} more ${count === 1 ? "run" : "runs"} between ${from?.slice(11, 19)} and ${until?.slice(11, 19)} UTC`,
    detail: { count, from, until, run_ids: events.slice(0, MOST_NAMED).map(({ runId }) => runId) },
    key: `run_failed:many:${events[0]?.id}`,
  };
}
