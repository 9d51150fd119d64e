/** The time of day after a date, and its zone. */
import { dayPeriods } from "./day-periods.ts";
import { offsetOfTimeZone, zoneOffset } from "./time-zones.ts";

/** Between the date and its time. */
const LEAD =
  /^\.?[\s,،T|•·\u2013-]*(?:г\.? |года )?(?:(?:at|um|ab|gegen|à|a las|a la|às|as|alle(?: ore)?|ore|ora|klo|kl\.?|om|ob|u|v|o|w|в|о|об|у|γ|στις|godz\.?|saat|pukul|lúc|à partir de) )?/iu;
const CLOCK =
  /^(\d{1,2})(?: ?([:.h時时点點시]) ?(\d{2}|\d(?=[分분]))(?!\d)(?:(?:[:.]|[分분] ?(?=\d\d?[秒초]))(\d{1,2})(?!\d)[秒초]?(?:[.,](\d+))?)?[分분]?(?![./]\d)|(?= ?[ap]\.? ?m)|(?= Uhr)|[時时点點시](?!\p{L}))/iu;
/** `Uhr`, `hours` in Bulgarian. */
const HOURS = /^ ?(?:Uhr|ч\.?|hod\.?|hrs)(?!\p{L})/iu;
const COMPACT_TIME = /^T(\d{2})(\d{2})(\d{2})?(?:[.,](\d+))?/;
const ZONE =
  /^[\s,;[(]*(Z\b|(?:UTC|GMT)\]? ?[+\u2212-] ?\d{1,2}(?:[:.]?\d{2})?|[+\u2212-]\d{2}(?::?\d{2})?(?!\d)|\p{Lu}{3,5}(?![\p{L}\d]|[+\u2212-]\d)|(?:ET|CT|MT|PT|UT)(?![\p{L}\d])|(?:Eastern|Central|Mountain|Pacific)(?= Time|\b))/u;
/** `Гринуич+9`: Greenwich in other languages. */
const UNKNOWN_ZONE = /^[\s,;[(]*[\p{L}\p{M}]{2,20}\]? ?[+\u2212-]\d{1,2}(?!\d)/u;
const TIME_ZONE_NAME = /^ ?[[(]?([A-Z][A-Za-z]+\/[A-Z][A-Za-z_]+(?:\/[A-Z][A-Za-z_]+)?)/;
/** `est` at the end is a zone, within a sentence it may be a word. */
const SMALL_ZONE = /^ ?\(?([a-z]{3,4}|мск)\)?$/i;
/** `London time`, `Ortszeit`, `heure de Paris`: the zone is not known. */
const LOCAL_TIME =
  /^[\s,(]*(?:[\p{L}.'’-]+ ){0,3}?(?:local\b|(?:\p{L}*time|\p{L}*zeit|heure|hora|orario|ora|tijd|\p{L}*tid|czasu?|času?|времени|время|час[уа]?|saati|ώρα|時間|时间|시간)(?![\p{L}\p{M}]))/iu;

interface Clock {
  hour: number;
  minute: number;
  second: number;
  millis: number;
  /** The text behind it. */
  after: string;
}

/** At the beginning of a text. */
export function clockIn(after: string, language: string | null): Clock | null {
  const compact = COMPACT_TIME.exec(after);
  if (compact !== null) {
    const [all, hour, minute, second, fraction] = compact;
    return clock([hour, minute, second, fraction], after.slice(all.length));
  }
  const lead = LEAD.exec(after)?.[0] ?? "";
  let rest = after.slice(lead.length);
  const periods = dayPeriods(language);
  let half = periods.before.exec(rest);
  if (half !== null) rest = rest.slice(half[0].length);
  const match = CLOCK.exec(rest);
  if (match === null) return null;
  const [all, hours, mark, minutes, seconds, fraction] = match;
  rest = rest.slice(all.length);
  rest = rest.slice(HOURS.exec(rest)?.[0].length ?? 0);
  if (half === null) {
    half = periods.after.exec(rest);
    if (half !== null) rest = rest.slice(half[0].length);
    // `1 May 2024 4.15 stars`
    else if (mark === "." && /^ ?\p{Ll}/u.test(rest) && !/\p{L}/u.test(lead)) return null;
  }
  const hour = Number(hours);
  if (half === null) return clock([hours, minutes, seconds, fraction], rest);
  if (hour > 12) return null;
  return clock([String((hour % 12) + (half[1] === undefined ? 0 : 12)), minutes, seconds, fraction], rest);
}

function clock([hour, minute, second, fraction]: readonly (string | undefined)[], after: string): Clock {
  const millis = fraction === undefined ? 0 : Math.floor(Number(`0.${fraction}`) * 1000);
  return { hour: Number(hour), minute: Number(minute ?? 0), second: Number(second ?? 0), millis, after };
}

/** Minutes east of UTC at the beginning of a text; 0 without a zone. Null: unknown. */
export function offsetIn(text: string, moment: number, language: string | null): number | null {
  const named = TIME_ZONE_NAME.exec(text)?.[1];
  if (named !== undefined) return offsetOfTimeZone(named, moment);
  const zone = ZONE.exec(text)?.[1]?.replace(/[ \]]/g, "").replace(".", ":");
  if (zone !== undefined) return zoneOffset(zone, moment, language);
  const small = SMALL_ZONE.exec(text)?.[1];
  const offset = small === undefined ? null : zoneOffset(small, moment, language);
  return offset ?? (LOCAL_TIME.test(text) || UNKNOWN_ZONE.test(text) ? null : 0);
}
