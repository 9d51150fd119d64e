/** Hours in which a channel sends nothing; what comes meanwhile is sent afterwards, in one message. */
import { notificationKind, type NotificationType, SEVERITIES, type Severity } from "./types.ts";

export interface QuietHours {
  /** Local time as HH:MM; `from` after `to` spans midnight. */
  from: string;
  to: string;
  timezone: string;
  /** Sent at once all the same, from this severity; null: nothing is. */
  except: Severity | null;
}

export const CLOCK_TIME = /^(?:[01]\d|2[0-3]):[0-5]\d$/;

const MINUTE = 60_000;
const DAY_MINUTES = 1440;

const minutesOf = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));

/** Minutes since midnight there. */
function localMinutes(at: number, timeZone: string): number {
  const format = new Intl.DateTimeFormat("en-GB", { timeZone, hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  return minutesOf(format.format(at));
}

function isQuiet(at: number, { from, to, timezone }: QuietHours): boolean {
  const now = localMinutes(at, timezone);
  const [start, end] = [minutesOf(from), minutesOf(to)];
  return start < end ? now >= start && now < end : now >= start || now < end;
}

/** When a notification of this type may be sent: now, or at the end of the quiet hours. */
export function notBefore(now: number, hours: QuietHours | null, type: NotificationType): number {
  if (hours === null || hours.from === hours.to || type === "test") return now;
  const { except, to, timezone } = hours;
  if (except !== null && SEVERITIES.indexOf(notificationKind(type).severity) >= SEVERITIES.indexOf(except)) return now;
  if (!isQuiet(now, hours)) return now;
  const wait = (minutesOf(to) - localMinutes(now, timezone) + DAY_MINUTES) % DAY_MINUTES;
  let end = Math.floor(now / MINUTE) * MINUTE + wait * MINUTE;
  // Where clocks change in between, the end by the clock is an hour earlier or later.
  for (const shift of [-60, 60])
    if (localMinutes(end, timezone) !== minutesOf(to) && localMinutes(end + shift * MINUTE, timezone) === minutesOf(to))
      end += shift * MINUTE;
  return Math.max(now, end);
}
