import { Cron } from "croner";
import type { Random } from "../base/random.ts";
import type { Schedule } from "./recipe.ts";

/** The first time after `after` at which the schedule is due; null: never again. */
export function nextSlot(schedule: Schedule, after: number, random: Random): number | null {
  const cron = new Cron(schedule.cron, { paused: true, timezone: schedule.timezone ?? "UTC" });
  const next = cron.nextRun(new Date(after));
  return next === null ? null : next.getTime() + Math.round(random.next() * schedule.jitter_seconds * 1000);
}

/** A slot that is later than this was missed: the program did not run, or the clock was set. */
export const MISSED_AFTER_MS = 60_000;
