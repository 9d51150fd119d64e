/**
 * Dates as pages write them, to ISO 8601. A date without a time stays a date (`2024-05-01`); a time is given in UTC,
 * and one without a zone is taken as UTC. What can be read in two ways, `03/04/2024`, follows the page's language or
 * is refused. Relative dates ("3 hours ago") are refused: a page does not say when it was written.
 */
import { monthNumber, ZONES } from "./date-words.ts";

interface DateParts {
  year: number;
  month: number;
  day: number;
}

export function parseDate(text: string, language: string | null = null): string | null {
  const given = text.slice(0, 300).replace(/\s+/g, " ").trim();
  if (/^-?\d{10}$|^-?\d{13}$/.test(given)) return fromEpoch(given);
  return isoDate(given) ?? writtenDate(given, language);
}

/** Seconds or milliseconds since 1970. */
function fromEpoch(digits: string): string {
  const value = Number(digits);
  return new Date(digits.length > 11 ? value : value * 1000).toISOString().replace(".000Z", "Z");
}

const ISO =
  /(?<!\d)(\d{4})-?(\d{2})-?(\d{2})(?:[T ,]{1,2}(\d{2}):?(\d{2})(?::?(\d{2})(?:[.,](\d+))?)?\s?(Z|[+-]\d{2}:?\d{2}|[+-]\d{2})?)?(?![\d-])/;

function isoDate(text: string): string | null {
  const match = ISO.exec(text);
  if (match === null) return null;
  const [, year, month, day, hour, minute, second, fraction, zone] = match;
  const parts = { year: Number(year), month: Number(month), day: Number(day) };
  // Eight digits in a row are a date only when nothing else is there: they may be any number.
  if (!match[0].includes("-") && match[0].length === 8 && match[0] !== text) return null;
  if (!isDay(parts)) return null;
  if (hour === undefined) {
    const after = text.slice(match.index + match[0].length);
    return withTime(parts, after);
  }
  const millis = fraction === undefined ? 0 : Math.floor(Number(`0.${fraction}`) * 1000);
  return join(parts, Number(hour), Number(minute), Number(second ?? 0), millis, zoneMinutes(zone ?? "Z"));
}

const WORD = String.raw`[\p{L}]{3,12}\.?`;
const ORDINAL = "(?:st|nd|rd|th|er|º|ª|\\.)?";
const DAY_FIRST = new RegExp(
  String.raw`(?<![\d:.])(\d{1,2})${ORDINAL}[ -]?(?:of |de |d['’])?[ -]?(${WORD})[ ,-]{0,2}(?:de |del )?(\d{4})(?!\d)`,
  "iu",
);
const MONTH_FIRST = new RegExp(String.raw`(${WORD})[ -](\d{1,2})${ORDINAL},? ?,? ?(\d{4})(?!\d)`, "iu");
/** asctime: `Sun Nov  6 08:49:37 1994`. */
const ASCTIME = /([A-Za-z]{3}) {1,2}(\d{1,2}) (\d{2}:\d{2}:\d{2}) (\d{4})/;
const SHORT_YEAR = /(?<!\d)(\d{1,2})-([A-Za-z]{3})-(\d{2})(?!\d)/;
const NUMERIC = /(?<![\d.:])(\d{1,4})([./-])(\d{1,2})\2(\d{1,4})(?!\d)/;
const EAST_ASIAN = /(\d{4})\s?[年년]\s?(\d{1,2})\s?[月월]\s?(\d{1,2})\s?[日일]/;

function writtenDate(text: string, language: string | null): string | null {
  let match = ASCTIME.exec(text);
  if (match !== null) {
    const parts = day(match[4], monthNumber(match[1] ?? ""), match[2]);
    return parts === null ? null : withTime(parts, match[3] ?? "");
  }
  match = EAST_ASIAN.exec(text);
  if (match !== null) return finish(text, match, day(match[1], Number(match[2]), match[3]));
  match = DAY_FIRST.exec(text);
  const dayFirst = match === null ? null : day(match[3], monthNumber(match[2] ?? ""), match[1]);
  if (match !== null && dayFirst !== null) return finish(text, match, dayFirst);
  match = MONTH_FIRST.exec(text);
  const monthFirst = match === null ? null : day(match[3], monthNumber(match[1] ?? ""), match[2]);
  if (match !== null && monthFirst !== null) return finish(text, match, monthFirst);
  match = SHORT_YEAR.exec(text);
  if (match !== null) {
    // RFC 850's two digits: the nearest century, with 70 as the turn, as every parser of it does.
    const short = Number(match[3]);
    return finish(text, match, day(short + (short < 70 ? 2000 : 1900), monthNumber(match[2] ?? ""), match[1]));
  }
  match = NUMERIC.exec(text);
  return match === null ? null : finish(text, match, numeric(match, language));
}

function finish(text: string, match: RegExpExecArray, parts: DateParts | null): string | null {
  if (parts === null) return null;
  return withTime(parts, text.slice(match.index + match[0].length));
}

/** `01.05.2024` is day first everywhere; with slashes or hyphens only Americans put the month first. */
function numeric(match: RegExpExecArray, language: string | null): DateParts | null {
  const [, first = "", mark = "", second = "", third = ""] = match;
  if (first.length === 4) return day(first, Number(second), third);
  if (third.length !== 4 || first.length > 2) return null;
  const [a, b] = [Number(first), Number(second)];
  if (mark === "." || a === b || a > 12) return day(third, b, first);
  if (b > 12) return day(third, a, second);
  const tag = language?.toLowerCase() ?? "";
  if (tag === "en-us") return day(third, a, second);
  return tag !== "" && tag !== "en" ? day(third, b, first) : null;
}

function day(year: string | number | undefined, month: number | null, date: string | undefined): DateParts | null {
  if (month === null) return null;
  const parts = { year: Number(year), month, day: Number(date) };
  return isDay(parts) ? parts : null;
}

function isDay({ year, month, day }: DateParts): boolean {
  if (year < 1000 || month < 1 || month > 12 || day < 1) return false;
  return day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}

const TIME =
  /^[\s,T|•·–-]*(?:at |um |à |a las |kl\.? )?(\d{1,2})(?:[:.h](\d{2}))(?:[:.](\d{2}))?(?:[.,]\d+)?\s?([ap])?\.?(?:m\b\.?)?\s?(?:Uhr)?\s?(?:\(?(Z|(?:UTC|GMT)?[+-]\d{1,2}:?\d{2}|[A-Z]{1,5})(?![a-z]))?/i;

/** The time that follows a date directly, if one does. */
function withTime(parts: DateParts, after: string): string {
  const match = TIME.exec(after);
  const [, hours, minutes, seconds, half, zone] = match ?? [];
  let hour = Number(hours);
  if (match === null || hour > 23 || Number(minutes ?? 0) > 59) return isoDay(parts);
  if (half !== undefined) {
    if (hour > 12) return isoDay(parts);
    hour = (hour % 12) + (half.toLowerCase() === "p" ? 12 : 0);
  }
  const offset = zone === undefined ? 0 : (ZONES[zone.toUpperCase()] ?? zoneMinutes(zone.replace(/^(UTC|GMT)/i, "")));
  return join(parts, hour, Number(minutes ?? 0), Number(seconds ?? 0), 0, offset) ?? isoDay(parts);
}

function zoneMinutes(zone: string): number {
  const match = /^([+-])(\d{1,2}):?(\d{2})?$/.exec(zone);
  if (match === null) return 0;
  const minutes = Number(match[2]) * 60 + Number(match[3] ?? 0);
  return match[1] === "-" ? -minutes : minutes;
}

function isoDay({ year, month, day }: DateParts): string {
  return new Date(Date.UTC(year, month - 1, day)).toISOString().slice(0, 10);
}

function join(
  { year, month, day }: DateParts,
  hour: number,
  minute: number,
  second: number,
  millis: number,
  offset: number,
): string | null {
  // 24:00 and a leap second are written now and then; both are the next moment.
  if (hour > 24 || minute > 59 || second > 60 || Math.abs(offset) > 15 * 60) return null;
  const time = Date.UTC(year, month - 1, day, hour, minute, second, millis) - offset * 60_000;
  return new Date(time).toISOString().replace(".000Z", "Z");
}
