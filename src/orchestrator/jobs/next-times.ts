/** The next scheduled run of a job, for display. */
import type { Recipe, Schedule } from "../../domain/run/recipe.ts";
import { nextOccurrences } from "../../domain/run/schedule.ts";
import type { JobRecord } from "../../store/records/job-records.ts";

/** A missed occurrence in the past is not shown; jitter may have delayed it. */
export function timesOf({ nextAt, nextOccurrenceAt, recipe }: JobRecord, now: number, count: number): number[] {
  if (nextOccurrenceAt === null) return [];
  const schedule = (recipe as Recipe).schedule as Schedule;
  if ((nextAt ?? nextOccurrenceAt) <= now) return nextOccurrences(schedule, now, count);
  return [nextOccurrenceAt, ...nextOccurrences(schedule, nextOccurrenceAt, count - 1)];
}

/** With jitter, if that is known; null: never. */
export function nextTimeOf(job: JobRecord, now: number): number | null {
  return job.nextAt !== null && job.nextAt > now ? job.nextAt : (timesOf(job, now, 1)[0] ?? null);
}
