/** Formats times of schedules in the schedule's own time zone. */

import type { Schedule } from "../../api/types.ts";
import { sentence } from "../../logic/format.ts";

export function scheduleTitle({ name, kind, job_id }: Pick<Schedule, "name" | "kind" | "job_id">): string {
  return name === null || name === "" ? `${sentence(kind)} ${job_id.slice(0, 8)}` : name;
}

/** "Mon 16 Nov, 09:30" in the schedule's own zone; UTC if the browser does not know the zone. */
export function zonedTime(at: number | string, timeZone: string): string {
  const time = typeof at === "string" ? Date.parse(at) : at;
  const format = (zone: string) =>
    new Intl.DateTimeFormat("en-GB", {
      timeZone: zone,
      weekday: "short",
      day: "numeric",
      month: "short",
      hour: "2-digit",
      minute: "2-digit",
      ...(new Date(time).getUTCSeconds() === 0 ? {} : { second: "2-digit" }),
    }).format(time);
  try {
    return format(timeZone);
  } catch {
    return `${format("UTC")} UTC`;
  }
}

const NAMED: Readonly<Record<string, string>> = {
  "* * * * *": "every minute",
  "@hourly": "every hour",
  "@daily": "every day at 00:00",
  "@weekly": "every Sunday at 00:00",
  "@monthly": "on the 1st of every month",
};

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/** Common expressions in words; null: cron is clearer. */
export function cronWords(cron: string): string | null {
  const named = NAMED[cron.trim()];
  if (named !== undefined) return named;
  const fields = cron.trim().split(/\s+/);
  if (fields.length === 6 && fields[0] === "0") fields.shift();
  const [minute = "", hour = "", day = "", month = "", weekday = ""] = fields;
  if (fields.length !== 5 || month !== "*" || (day !== "*" && weekday !== "*")) return null;
  const everyMinutes = /^\*\/(\d+)$/.exec(minute)?.[1];
  if (everyMinutes !== undefined && hour === "*" && day === "*" && weekday === "*")
    return `every ${everyMinutes} minutes`;
  if (!/^\d+$/.test(minute)) return null;
  const at = minute.padStart(2, "0");
  if (hour === "*" && day === "*" && weekday === "*") return `every hour at :${at}`;
  const everyHours = /^\*\/(\d+)$/.exec(hour)?.[1];
  if (everyHours !== undefined && day === "*" && weekday === "*") return `every ${everyHours} hours at :${at}`;
  if (!/^\d+$/.test(hour)) return null;
  const time = `${hour.padStart(2, "0")}:${at}`;
  if (day === "*" && weekday === "*") return `every day at ${time}`;
  if (day === "*" && weekday === "1-5") return `on weekdays at ${time}`;
  if (day === "*" && /^[0-7]$/.test(weekday)) return `every ${DAYS[Number(weekday)]} at ${time}`;
  if (weekday === "*" && /^\d+$/.test(day)) return `on day ${day} of every month at ${time}`;
  return null;
}

export const OVERLAP_WORDS = {
  skip: "skip while the previous run is active",
  queue: "wait for the previous run",
  cancel: "cancel the previous run",
} as const;

export const MISSED_WORDS = {
  skip: "skip missed runs",
  run_once: "run once for all missed runs",
} as const;
