/** Input of a job's schedule. */
import { type FieldError, messageOf } from "../../base/errors.ts";
import type { Schedule } from "../../domain/run/recipe.ts";
import { nextOccurrences, nextTime } from "../../domain/run/schedule.ts";
import type { NewJob } from "../../store/records/job-records.ts";
import type { JobDeps } from "./deps.ts";

interface ScheduleInput {
  schedule?: string | Partial<Schedule> | null;
  timezone?: string | null;
}

/** Without `minScheduleMs` there is no minimum: for previews. */
type Floor = Pick<JobDeps, "clock"> & Partial<Pick<JobDeps, "minScheduleMs">>;

export function readSchedule(input: ScheduleInput, problems: FieldError[], deps: Floor): Schedule | null {
  const { schedule } = input;
  const zone = readZone(input.timezone, "timezone", problems);
  if (schedule === undefined || schedule === null) return null;
  const requested = typeof schedule === "string" ? { cron: schedule } : schedule;
  const path = typeof schedule === "string" ? "schedule" : "schedule.cron";
  const scheduleZone = readZone(requested.timezone, "schedule.timezone", problems);
  if (scheduleZone !== null && zone !== null && scheduleZone !== zone)
    problems.push({
      path: "schedule.timezone",
      message: `is ${requested.timezone}, but timezone is ${input.timezone}: both must be equal; set only one of them`,
    });
  const cron = readCron(requested.cron, path, problems, deps);
  return {
    cron,
    timezone: requested.timezone ?? input.timezone ?? null,
    overlap: requested.overlap ?? "skip",
    missed: requested.missed ?? "skip",
    jitter_seconds: requested.jitter_seconds ?? 0,
  };
}

/** The canonical name of a time zone; null: none was set, or it is unknown. */
export function readZone(name: string | null | undefined, path: string, problems: FieldError[]): string | null {
  const zone = name ? zoneOf(name) : null;
  if (name !== undefined && name !== null && zone === null && !(name === "" && path !== "timezone"))
    problems.push({ path, message: "is not a time zone, such as Europe/Berlin or UTC" });
  return zone;
}

export function readCron(text: string | undefined, path: string, problems: FieldError[], deps: Floor): string {
  const cron = text?.trim() ?? "";
  const parts = cron.split(/\s+/).length;
  if (cron === "") problems.push({ path, message: "is required: a cron expression such as 0 6 * * *" });
  else if (parts !== 5 && parts !== 6)
    problems.push({ path, message: `expected a cron expression with 5 or 6 fields, got ${parts}` });
  else {
    try {
      const times = nextOccurrences({ cron, timezone: null }, deps.clock.now(), COMPARED_TIMES);
      if (times.length === 0) problems.push({ path, message: "matches no existing date" });
      const [least, floor] = [closest(times), deps.minScheduleMs ?? 0];
      if (least < floor)
        problems.push({
          path,
          message: `has times ${least / 1000} s apart, but at least ${floor / 1000} s are required (APP_MIN_SCHEDULE_SECONDS)`,
        });
    } catch (error) {
      problems.push({ path, message: `is not a cron expression: ${messageOf(error).replace(/^CronPattern: /, "")}` });
    }
  }
  return cron;
}

/** Enough to cover two times of a minute and two minutes of an hour. */
const COMPARED_TIMES = 65;

function closest(times: readonly number[]): number {
  return times.reduce(
    (least, time, index) => (index === 0 ? least : Math.min(least, time - times[index - 1]!)),
    Number.POSITIVE_INFINITY,
  );
}

/** The first occurrence from now on. */
export function firstTime(
  schedule: Schedule | null,
  { clock, random }: Pick<JobDeps, "clock" | "random">,
): Pick<NewJob, "nextAt" | "nextOccurrenceAt"> {
  const next = schedule === null ? null : nextTime(schedule, clock.now(), random);
  return { nextAt: next?.at ?? null, nextOccurrenceAt: next?.scheduledAt ?? null };
}

/** Canonical name of a time zone; null: unknown. */
function zoneOf(name: string): string | null {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return null;
  }
}
