/**
 * Retry-After (RFC 9110 §10.2.3): seconds, or a date in one of three formats, two of them obsolete but still sent.
 */

/** The requested delay in milliseconds; 0 when the date is past, null when the header is invalid. */
export function parseRetryAfter(value: string | null | undefined, nowMs: number): number | null {
  const text = value?.trim() ?? "";
  // Fractions are not in the standard, but unambiguous; rounded up to be polite.
  if (/^\d+(\.\d+)?$/.test(text)) return Math.min(Number.MAX_SAFE_INTEGER, Math.ceil(Number(text) * 1000));
  const date = parseHttpDate(text, nowMs);
  return date === null ? null : Math.max(0, date - nowMs);
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/** `Sun, 06 Nov 1994 08:49:37 GMT` and, with hyphens and two digits of year, `Sunday, 06-Nov-94 08:49:37 GMT`. */
const RFC_DATE =
  /^(?:[a-z]{3,9},\s*)?(?<day>\d{1,2})[ -](?<month>[a-z]{3})[ -](?<year>\d{4}|\d{2})\s+(?<hour>\d{1,2}):(?<minute>\d{2}):(?<second>\d{2})\s+(?:GMT|UTC|UT|Z|[+-]0000)$/i;

/** `Sun Nov  6 08:49:37 1994`, as C's asctime writes it. */
const ASCTIME_DATE =
  /^[a-z]{3}\s+(?<month>[a-z]{3})\s+(?<day>\d{1,2})\s+(?<hour>\d{1,2}):(?<minute>\d{2}):(?<second>\d{2})\s+(?<year>\d{4})$/i;

/** Milliseconds since 1970, or null. `nowMs` decides the century of a two-digit year. */
function parseHttpDate(text: string, nowMs: number): number | null {
  const groups = (RFC_DATE.exec(text) ?? ASCTIME_DATE.exec(text))?.groups;
  if (groups === undefined) return null;
  const number = (name: string) => Number(groups[name]);
  const month = MONTHS.indexOf((groups["month"] ?? "").toLowerCase());
  const [day, hour, minute, second] = [number("day"), number("hour"), number("minute"), number("second")];
  // 60 is a leap second.
  if (month < 0 || hour > 23 || minute > 59 || second > 60) return null;
  const year = fullYear(groups["year"] ?? "", nowMs);
  const midnight = Date.UTC(year, month, day);
  // Date.UTC rolls 31 February over into March; such a date is garbage, not March.
  if (!Number.isFinite(midnight) || new Date(midnight).getUTCDate() !== day) return null;
  return midnight + ((hour * 60 + minute) * 60 + second) * 1000;
}

/** A two-digit year that would lie more than 50 years ahead is of the past century (RFC 9110 §5.6.7). */
function fullYear(text: string, nowMs: number): number {
  const year = Number(text);
  if (text.length === 4) return year;
  const thisYear = new Date(nowMs).getUTCFullYear();
  const candidate = thisYear - (thisYear % 100) + year;
  return candidate > thisYear + 50 ? candidate - 100 : candidate;
}
