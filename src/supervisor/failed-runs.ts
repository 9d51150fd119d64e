import { isoOf } from "../base/iso.ts";
import type { FoundEvent, NewAlert } from "../store/ports/alert-port.ts";

const WINDOW_MS = 60_000;
/** The end of a run may be committed slightly after its timestamp. */
const LATE_MS = 2000;
/** Failed runs per minute that get an alert each. */
export const MAX_SINGLE_ALERTS = 10;
const MOST_NAMED = 100;

interface Minute {
  /** Position in the feed before its first failed run. */
  before: string;
  reported: number;
  more: FoundEvent[];
}

/**
 * Failed runs by minute: the first few get an alert each, the others a common one after the minute, so that a flood of
 * failures neither hides nor delays other alerts. Every process derives the same alerts from the same events.
 */
export class FailedRuns {
  readonly #minutes = new Map<number, Minute>();

  /** Position in the feed from which a restart has to read again; null: none. */
  get heldAt(): string | null {
    return this.#minutes.values().next().value?.before ?? null;
  }

  /** True: it gets its own alert. */
  note(event: FoundEvent, before: string): boolean {
    const start = event.createdAt - (event.createdAt % WINDOW_MS);
    const minute = this.#minutes.get(start) ?? { before, reported: 0, more: [] };
    this.#minutes.set(start, minute);
    if (minute.reported < MAX_SINGLE_ALERTS) minute.reported += 1;
    else {
      minute.more.push(event);
      return false;
    }
    return true;
  }

  /** The common alerts of past minutes. */
  over(now: number): NewAlert[] {
    const alerts: NewAlert[] = [];
    for (const [start, { more }] of this.#minutes) {
      // A minute in the future was written before the clock was set back.
      if (now < start + WINDOW_MS + LATE_MS && now > start - WINDOW_MS) continue;
      this.#minutes.delete(start);
      if (more.length > 0) alerts.push(moreFailed(more));
    }
    return alerts;
  }
}

function moreFailed(events: readonly FoundEvent[]): NewAlert {
  const [from, until] = [events[0], events.at(-1)].map((event) => isoOf(event?.createdAt ?? 0));
  const count = events.length;
  return {
    kind: "run_failed",
    subject: "many",
    message: `Runs failed: ${count} more ${count === 1 ? "run" : "runs"} between ${from?.slice(11, 19)} and ${until?.slice(11, 19)} UTC`,
    detail: { count, from, until, run_ids: events.slice(0, MOST_NAMED).map(({ runId }) => runId) },
    key: `run_failed:many:${events[0]?.id}`,
  };
}
