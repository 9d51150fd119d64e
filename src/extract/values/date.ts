/**
 * Parses dates to ISO 8601. A date without a time stays a date (`2024-05-01`). Times are converted to UTC, and are assumed
 * to be UTC without a zone; a time with an unknown zone is dropped. A range yields its first day. Ambiguous dates,
 * `03/04/2024`, follow the page's language or are rejected. Relative dates ("3 hours ago") are rejected, because the time
 * of writing is unknown.
 */
import { dateOrderOf } from "./date-order.ts";
import { plainDigits } from "./digits.ts";
import { monthNumber } from "./month-names.ts";
import { clockIn, offsetIn } from "./time-of-day.ts";

interface DateParts {
  year: number;
  month: number;
  day: number;
}

/** A date, and the text after it, which may contain a time. */
interface Found extends DateParts {
  after: string;
}

const MAX_EPOCH = 2 ** 31 * 1000;

type Reader = (text: string, language: string | null) => Found | null;

export function parseDate(text: string, language: string | null = null): string | null {
  const input = plainDigits(text.slice(0, 300))
    .replace(/[\u2010\u2011]/g, "-")
    .replace(/\s+/g, " ")
    .trim();
  if (/^-?\d{10}$|^-?\d{13}$/.test(input)) return fromEpoch(input);
  for (const read of READERS) {
    const found = read(input, language);
    if (found !== null) return withTime(found, found.after, language);
  }
  return null;
}

/** Seconds or milliseconds since 1970. Null: beyond 2038; other numbers are as long. */
function fromEpoch(digits: string): string | null {
  const moment = digits.length > 11 ? Number(digits) : Number(digits) * 1000;
  return Math.abs(moment) > MAX_EPOCH ? null : new Date(moment).toISOString().replace(".000Z", "Z");
}

const ISO = /(?<![\d.]|\d-)(\d{4})-?(\d{2})-?(\d{2})(?=(T?\d{2}:?\d{2}|T))?(?![\d-])/;
const COMPACT = /^\d{8}(?:T\d{2}:?\d{2}.*)?$/;

const iso: Reader = (text) => {
  const match = ISO.exec(text) ?? /^(\d{4})(\d{2})(\d{2})(?=T\d{4})/.exec(text);
  if (match === null) return null;
  // Eight digits in a row are a date only on their own: otherwise they may be any number.
  if (!match[0].includes("-") && !COMPACT.test(text)) return null;
  return found(text, match, day(match[1], Number(match[2]), match[3]));
};

/** Thai abbreviates with periods inside: `พ.ค.` */
const WORD = String.raw`(?:[\p{L}\p{M}]{2,18}\.?|[\u0e00-\u0e7f]{1,3}\.[\u0e00-\u0e7f]{1,3}\.)`;
const ORDINAL = "(?:st|nd|rd|th|er|re|\\.?º|ª|\\.|-?(?:a|e))?";
/** Between the first and the last day of a range. */
const TO = String.raw`(?: ?[-\u2012-\u2015\u2212~\uff5e\u301c/&] ?| (?:to|till|until|thru|through|and|bis(?: zum)?|und|au|et|al?|y|e|ao|às?|t\/m|tot(?: en met)?|en|til|tot|og|och|do|i|po|по|до|и|až|ile|ve) )`;
const RANGE = String.raw`(?:(\d{1,2})${ORDINAL}${TO})?`;
const DAY_FIRST = new RegExp(
  String.raw`(?<![\d:.,])${RANGE}(\d{1,2})${ORDINAL}[ -]?(?:of |de |d['’]|del |of the )?[ -]?(${WORD})[ ,،-]{0,3}(?:de |del |of )?(\d{4})(?!\d)`,
  "iu",
);
const MONTH_FIRST = new RegExp(
  String.raw`(${WORD})[ -](\d{1,2})${ORDINAL}(?:${TO}\d{1,2}${ORDINAL})?,? ?,? ?(\d{4})(?!\d)`,
  "iu",
);
/** `2024. május 1.`, `2024 m. gegužės 1 d.`, `2024. gada 1. maijs`, `2024-May-01`. */
const YEAR_FIRST = new RegExp(
  String.raw`(?<![\d.])(\d{4})(?:\.|\(e\)ko| m\.| ж\.)?[ -](?:gada )?(?:(${WORD})[ -](\d{1,2})|(\d{1,2})\.? (${WORD}))(?![\d:])`,
  "iu",
);
/** A range that starts in another month: `28 April – 3 May 2024`, `May 28 – June 3, 2024`. */
const BEGAN_DAY_FIRST = new RegExp(String.raw`(?<!\d)(\d{1,2})${ORDINAL}[ -]?(?:de )?(${WORD})${TO}$`, "iu");
const BEGAN_MONTH_FIRST = new RegExp(String.raw`(${WORD})[ -](\d{1,2})${ORDINAL}${TO}$`, "iu");

const dayFirst: Reader = (text, language) => {
  const match = DAY_FIRST.exec(text);
  if (match === null) return null;
  const [, first, last, word = "", year] = match;
  const end = day(yearOf(year, language), monthNumber(word, language), last);
  if (end === null) return null;
  // `Issue 12 - 3 May 2024` is no range.
  if (first !== undefined && Number(first) < Number(last))
    return rangeFrom(text, match, { ...end, day: Number(first) });
  const began = BEGAN_DAY_FIRST.exec(text.slice(0, match.index));
  return began === null ? found(text, match, end) : rangeBegan(text, match, end, began[2], began[1], language);
};

const monthFirst: Reader = (text, language) => {
  const match = MONTH_FIRST.exec(text);
  if (match === null) return null;
  const [, word = "", date, year] = match;
  const parts = day(yearOf(year, language), monthNumber(word, language), date);
  if (parts === null) return null;
  const began = BEGAN_MONTH_FIRST.exec(text.slice(0, match.index));
  return began === null ? found(text, match, parts) : rangeBegan(text, match, parts, began[1], began[2], language);
};

function rangeFrom(text: string, match: RegExpExecArray, parts: DateParts): Found | null {
  const first = isDay(parts) ? found(text, match, parts) : null;
  // The time after a range may be that of its end.
  return first === null ? null : { ...first, after: "" };
}

function rangeBegan(
  text: string,
  match: RegExpExecArray,
  end: DateParts,
  word: string | undefined,
  date: string | undefined,
  language: string | null,
): Found | null {
  const month = monthNumber(word ?? "", language);
  if (month === null) return found(text, match, end);
  return rangeFrom(text, match, { year: month > end.month ? end.year - 1 : end.year, month, day: Number(date) });
}

const yearFirst: Reader = (text, language) => {
  const match = YEAR_FIRST.exec(text);
  if (match === null) return null;
  const [, year, before, dayBehind, dayBefore, behind] = match;
  const month = monthNumber(before ?? behind ?? "", language);
  return found(text, match, day(yearOf(year, language), month, dayBehind ?? dayBefore));
};

/** asctime: `Sun Nov  6 08:49:37 1994`, and with a zone before the year, as `date` prints it. */
const ASCTIME = /([A-Za-z]{3}) {1,2}(\d{1,2}) (\d{2}:\d{2}:\d{2})((?: [A-Z]{3,4})?) (\d{4})/;
const asctime: Reader = (text) => {
  const match = ASCTIME.exec(text);
  if (match === null) return null;
  const parts = day(match[5], monthNumber(match[1] ?? "", "en"), match[2]);
  return parts === null ? null : { ...parts, after: `${match[3] ?? ""}${match[4] ?? ""}` };
};

const EAST_ASIAN = /(?:(令和|平成|昭和|民國|民国) ?)?(\d{1,4}|元) ?[年년] ?(\d{1,2}) ?[月월] ?(\d{1,2}) ?[日일号號]?/;
const ERAS: Readonly<Record<string, number>> = { 令和: 2018, 平成: 1988, 昭和: 1925, 民國: 1911, 民国: 1911 };
const eastAsian: Reader = (text) => {
  const match = EAST_ASIAN.exec(text);
  if (match === null) return null;
  const [, era, written = "", month, date] = match;
  const year = (written === "元" ? 1 : Number(written)) + (era === undefined ? 0 : (ERAS[era] ?? 0));
  return found(text, match, day(year, Number(month), date));
};

const VIETNAMESE = /(\d{1,2}) tháng (\d{1,2})(?:,| năm)? (\d{4})/i;
const vietnamese: Reader = (text) => {
  const match = VIETNAMESE.exec(text);
  return match === null ? null : found(text, match, day(match[3], Number(match[2]), match[1]));
};

/** RFC 850 and RFC 822: a two-digit year followed by a time. */
const SHORT_YEAR = /(?<!\d)(\d{1,2})[- ]([A-Za-z]{3})[- ](\d{2})(?= \d{1,2}:\d{2})/;
const shortYear: Reader = (text) => {
  const match = SHORT_YEAR.exec(text);
  if (match === null) return null;
  return found(text, match, day(century(Number(match[3])), monthNumber(match[2] ?? "", "en"), match[1]));
};

/** POSIX convention: two-digit years below 70 are in the 2000s. */
const century = (short: number) => short + (short < 70 ? 2000 : 1900);

/** The first day of `01.–03.05.2024` and `28.04. – 03.05.2024`. */
const BEGAN_NUMERIC = new RegExp(String.raw`(?<![\d./])(\d{1,2})([./])(?:(\d{1,2})\2?)?${TO}$`, "iu");
/** `Version 2024.1.2`. */
const VERSION = /(?:version[eso]?|versión|versão|release|ver|rev|build|firmware|kernel|driver)\.?:? ?$/i;

const NUMERIC = /(?<![\d.:\p{L}/-])(\d{1,4})([./-])( ?)(\d{1,2})\2\3(\d{1,4})(?!\d|[./-]\d|\p{L})/u;

/** `01.05.2024` is day first everywhere; with slashes or hyphens the language decides, unless one number exceeds 12. */
const numeric: Reader = (text, language) => {
  const match = NUMERIC.exec(text);
  if (match === null) return null;
  const [, first = "", mark = "", , second = "", third = ""] = match;
  const [a, b] = [Number(first), Number(second)];
  const before = text.slice(0, match.index);
  if (VERSION.test(before)) return null;
  const dateOf = (year: number | string, month: number, date: number) => {
    const end = day(typeof year === "string" ? yearOf(year, language) : year, month, String(date));
    const began = end === null || first.length === 4 ? null : BEGAN_NUMERIC.exec(before);
    if (end === null || began === null || began[2] !== mark) return found(text, match, end);
    const [, one = "", , other] = began;
    if (other === undefined) return rangeFrom(text, match, { ...end, day: Number(one) });
    const [startDay, startMonth] = month === b ? [Number(one), Number(other)] : [Number(other), Number(one)];
    const startYear = startMonth > end.month ? end.year - 1 : end.year;
    return rangeFrom(text, match, { year: startYear, month: startMonth, day: startDay });
  };
  if (first.length === 4) return dateOf(first, b, Number(third));
  const order = dateOrderOf(language);
  if (first.length > 2 || third.length === 3 || (third.length === 1 && order !== "ymd")) return null;
  if (third.length <= 2) {
    // Two-digit years in these locales belong to another calendar.
    if (/^(?:th|fa|ar-sa)\b/i.test(language ?? "")) return null;
    // Versions look the same: `3.12.20`.
    const isPadded = first.length === 2 && second.length === 2;
    if (mark === "." && !isPadded && (order === null || order === "mdy" || /^en\b/i.test(language ?? ""))) return null;
    if (order === "ymd") return dateOf(century(a), b, Number(third));
    if (order === "mdy" && mark !== ".") return dateOf(century(Number(third)), a, b);
    return mark === "." || order === "dmy" ? dateOf(century(Number(third)), b, a) : null;
  }
  if (mark === "." || a === b || a > 12) return dateOf(third, b, a);
  if (b > 12 || order === "mdy") return dateOf(third, a, b);
  return order === "dmy" ? dateOf(third, b, a) : null;
};

const READERS: readonly Reader[] = [
  ...[iso, asctime, eastAsian, vietnamese, dayFirst, monthFirst, yearFirst, shortYear, numeric],
];

function found(text: string, match: RegExpExecArray, parts: DateParts | null): Found | null {
  return parts === null ? null : { ...parts, after: text.slice(match.index + match[0].length) };
}

/** Converts Thai Buddhist years. */
function yearOf(year: string | undefined, language: string | null): number {
  const value = Number(year);
  return value > 2400 && value < 2700 && /^th\b/i.test(language ?? "th") ? value - 543 : value;
}

function day(year: string | number | undefined, month: number | null, date: string | undefined): DateParts | null {
  if (month === null) return null;
  const parts = { year: Number(year), month, day: Number(date) };
  return isDay(parts) ? parts : null;
}

/** Years outside this range belong to another calendar, or are not years. */
function isDay({ year, month, day: date }: DateParts): boolean {
  if (year < 1500 || year > 2200 || month < 1 || month > 12 || date < 1) return false;
  return date <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}

/** Adds the time that directly follows the date, if any. */
function withTime(parts: DateParts, after: string, language: string | null): string {
  const clock = clockIn(after, language);
  if (clock === null) return isoDay(parts);
  const { hour, minute, second, millis } = clock;
  // 24:00 and leap seconds occur; both roll over to the next minute.
  if (hour > 24 || minute > 59 || second > 60) return isoDay(parts);
  const moment = Date.UTC(parts.year, parts.month - 1, parts.day, hour, minute, second, millis);
  const offset = offsetIn(clock.after, moment, language);
  if (offset === null || Math.abs(offset) > 15 * 60) return isoDay(parts);
  return new Date(moment - offset * 60_000).toISOString().replace(".000Z", "Z");
}

function isoDay({ year, month, day: date }: DateParts): string {
  return new Date(Date.UTC(year, month - 1, date)).toISOString().slice(0, 10);
}
