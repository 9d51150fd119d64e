/** When a job is to run by itself, as a caller says it. */
import { Cron } from "croner";
import { type FieldError, messageOf } from "../../base/errors.ts";
import type { Schedule } from "../../domain/recipe.ts";
import { nextTime } from "../../domain/schedule.ts";
import type { NewJob } from "../../store/job-records.ts";
import type { JobDeps } from "./deps.ts";

export interface ScheduleInput {
  schedule?: string | Partial<Schedule> | null;
  timezone?: string | null;
}

export function readSchedule(input: ScheduleInput, problems: FieldError[]): Schedule | null {
  const { schedule } = input;
  const zone = input.timezone ? zoneOf(input.timezone) : null;
  if (input.timezone !== undefined && input.timezone !== null && zone === null)
    problems.push({ path: "timezone", message: "is not a time zone, such as Europe/Berlin or UTC" });
  if (schedule === undefined || schedule === null) return null;
  const given = typeof schedule === "string" ? { cron: schedule } : schedule;
  const path = typeof schedule === "string" ? "schedule" : "schedule.cron";
  const own = given.timezone ? zoneOf(given.timezone) : null;
  if (given.timezone && own === null)
    problems.push({ path: "schedule.timezone", message: "is not a time zone, such as Europe/Berlin or UTC" });
  if (own !== null && zone !== null && own !== zone)
    problems.push({
      path: "schedule.timezone",
      message: `is ${given.timezone}, but timezone is ${input.timezone}: a job has one time zone; give the same twice, or null for one of them`,
    });
  const cron = given.cron?.trim() ?? "";
  const parts = cron.split(/\s+/).length;
  if (cron === "") problems.push({ path, message: "is required: a cron expression such as 0 6 * * *" });
  else if (parts !== 5 && parts !== 6)
    problems.push({ path, message: `expected a cron expression with 5 or 6 fields, got ${parts}` });
  else {
    try {
      if (new Cron(cron, { paused: true }).nextRun() === null)
        problems.push({ path, message: "is a time that never comes" });
    } catch (error) {
      problems.push({ path, message: `is not a cron expression: ${messageOf(error).replace(/^CronPattern: /, "")}` });
    }
  }
  return {
    cron,
    timezone: given.timezone ?? input.timezone ?? null,
    overlap: given.overlap ?? "skip",
    missed: given.missed ?? "skip",
    jitter_seconds: given.jitter_seconds ?? 0,
  };
}

/** When the schedule starts its job for the first time from now on. */
export function firstTime(
  schedule: Schedule | null,
  { clock, random }: Pick<JobDeps, "clock" | "random">,
): Pick<NewJob, "nextAt" | "nextSlot"> {
  const next = schedule === null ? null : nextTime(schedule, clock.now(), random);
  return { nextAt: next?.at ?? null, nextSlot: next?.slot ?? null };
}

/** The name that all names of a time zone stand for; null: there is no such one. */
function zoneOf(name: string): string | null {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return null;
  }
}
