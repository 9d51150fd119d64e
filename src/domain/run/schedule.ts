import { Cron } from "croner";
import type { Random } from "../../base/random.ts";
import type { Schedule } from "./recipe.ts";
import type { ScheduledTime } from "./schedule-occurrences.ts";

type Times = Pick<Schedule, "cron" | "timezone">;

function cronOf({ cron, timezone }: Times): Cron {
  return new Cron(cron, { paused: true, timezone: timezone ?? "UTC" });
}

/** The first time after `after`; null: never again. */
export function nextTime(schedule: Schedule, after: number, random: Random): ScheduledTime | null {
  const scheduledAt = cronOf(schedule).nextRun(new Date(after))?.getTime();
  if (scheduledAt === undefined) return null;
  return { scheduledAt, at: scheduledAt + Math.round(random.next() * schedule.jitter_seconds * 1000) };
}

/** The next few times after `after`. */
export function nextOccurrences(schedule: Times, after: number, count: number): number[] {
  return cronOf(schedule)
    .nextRuns(count, new Date(after))
    .map((date) => date.getTime());
}

/** The last time that is not later than `until`; null: there was none. */
export function lastOccurrence(schedule: Times, until: number): number | null {
  const second = Math.floor(until / 1000) * 1000 + 1000;
  return cronOf(schedule).previousRuns(1, new Date(second))[0]?.getTime() ?? null;
}

/** Occurrences counted exactly; further ones are extrapolated from their spacing. */
const COUNTED = 1000;

/** The number of occurrences between two of them, inclusive. */
export function countOccurrences(schedule: Times, from: number, until: number): { count: number; exact: boolean } {
  const cron = cronOf(schedule);
  let last = from;
  for (let count = 1; count < COUNTED; count += 1) {
    const next = cron.nextRun(new Date(last))?.getTime() ?? Number.POSITIVE_INFINITY;
    if (next > until) return { count, exact: true };
    last = next;
  }
  return { count: COUNTED + Math.round(((until - last) / (last - from)) * (COUNTED - 1)), exact: false };
}

/** An occurrence this late is missed: no process was running, or the clock was set. */
export const MISSED_AFTER_MS = 60_000;
