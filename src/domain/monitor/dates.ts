/**
 * Dates and times in the text of a page. Those that only tell when the page was made, such as "updated 3 May" or today's
 * date, are noise; the date of an event is not.
 */

// Pages are hostile: every repetition below is bounded, or starts only where the one before it has ended.

/** By language, from January to December. */
const MONTHS_OF_YEAR = [
  "january february march april may june july august september october november december",
  "jan feb mar apr may jun jul aug sep oct nov dec",
  "januar februar märz april mai juni juli august september oktober november dezember",
  "jan feb mär apr mai jun jul aug sept okt nov dez",
  "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
  "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
  "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
  "januari februari maart april mei juni juli augustus september oktober november december",
  "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
].map((names) => names.split(" "));
const MONTH_NUMBERS = new Map(MONTHS_OF_YEAR.flatMap((names) => names.map((name, index) => [name, index] as const)));
const MONTHS = [...MONTH_NUMBERS.keys()].filter((name) => name !== "mär").join("|");
const DAYS = [
  ..."monday tuesday wednesday thursday friday saturday sunday mon tues tue wed thurs thu fri sat sun".split(" "),
  ..."montag dienstag mittwoch donnerstag freitag samstag sonntag".split(" "),
  ..."lundi mardi mercredi jeudi vendredi samedi dimanche".split(" "),
  ..."lunes martes miércoles jueves viernes sábado domingo".split(" "),
].join("|");
const YEAR = String.raw`(?:19|20)\d\d`;
const DAY = String.raw`\d{1,2}(?:st|nd|rd|th|er|\.)?`;
const CLOCK = String.raw`\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,6})?)?(?:\s?[ap]\.?m\b\.?)?(?:\s?(?:utc|gmt|cest|cet|est|edt|pst|pdt|bst|uhr|z)\b|\s?[+-]\d{2}:?\d{2}\b)?`;

/** In this order: a longer form contains a shorter one. */
const DATES: readonly RegExp[] = [
  new RegExp(String.raw`\b${YEAR}-\d{2}-\d{2}(?:[T ]${CLOCK})?`, "giu"),
  new RegExp(
    String.raw`(?:\b(?:${DAYS})\b,?\.?\s+)?\b${DAY}(?:\s+(?:de|of))?\s+(?:${MONTHS})\b\.?,?(?:(?:\s+de)?\s+${YEAR}\b)?`,
    "giu",
  ),
  new RegExp(
    String.raw`(?:\b(?:${DAYS})\b,?\.?\s+)?\b(?:${MONTHS})\b\.?\s+(?:${YEAR}\b|${DAY}\b(?!:)(?:,?\s+${YEAR}\b)?)`,
    "giu",
  ),
  new RegExp(
    String.raw`\b\d{1,2}([/.-])\d{1,2}\1${YEAR}\b|\b\d{1,2}\/\d{1,2}\/\d{2}\b|\b${YEAR}[/.]\d{1,2}[/.]\d{1,2}\b`,
    "gu",
  ),
  new RegExp(String.raw`\b${CLOCK}`, "giu"),
];

const UNITS =
  "seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?|sekunden?|minuten?|stunden?|tage?n?|wochen?|monate?n?|jahre?n?|secondes?|heures?|jours?|semaines?|mois|ans?|segundos?|minutos?|horas?|días?|semanas?|meses|mes|años?|dias?|mês|anos?|second[oi]|minut[oi]|or[ae]|giorn[oi]|settiman[ae]|mes[ei]|ann[oi]|seconden?|minuut|uur|uren|dag(?:en)?|weken|maand(?:en)?|jaar|sekunder|timm(?:e|ar)|timer?|dagar?|dager?|veck(?:a|or)|uker?|månad(?:er)?|godzin[yaę]?|dni|dzień|tygodni[ea]?|miesi[ąę]c[ey]?|lat|sekund[yaę]?|minut[yaęê]?|saniye|dakika|saat|gün|hafta|ay|yıl|секунд[уы]?|минут[уы]?|час(?:а|ов)?|день|дня|дней|недел[юиь]|месяц(?:а|ев)?|лет|год(?:а)?";
/** Always noise: they change with the time of the fetch. */
const RELATIVE: readonly RegExp[] = [
  new RegExp(
    String.raw`\b(?:(?:about|over|almost|less than)\s+)?(?:\d{1,5}|an?|one|a few|several)\s?(?:${UNITS}|[smhdw])\s+ago\b`,
    "giu",
  ),
  new RegExp(
    String.raw`(?<!\p{L})(?:vor|il y a|hace|há|för)\s+(?:etwa\s+|environ\s+)?(?:\d{1,5}|einer|einem|une?|una?)\s+(?:${UNITS})(?!\p{L})(?:\s+sedan(?!\p{L}))?`,
    "giu",
  ),
  new RegExp(
    String.raw`(?<![\p{L}\d])\d{1,5}\s{1,3}(?:${UNITS})\s{1,3}(?:geleden|fa|temu|önce|siden|sedan|назад|atrás)(?!\p{L})`,
    "giu",
  ),
  /(?<!\d)\d{1,5}\s?(?:秒|分|分钟|分鐘|小时|小時|時間|天|日|周|週間|个月|か月|ヶ月|年)前/gu,
  /(?<!\d)\d{1,5}\s?(?:초|분|시간|일|주|개월|년)\s?전/gu,
  /\b(?:just now|moments ago|gerade eben|à l’instant|à l'instant)(?!\p{L})/giu,
  /(?:©|\(c\)|copyright)\s*(?:©\s*)?(?:19|20)\d\d(?:\s?[-–—]\s?(?:19|20)\d\d)?/giu,
];
/** As a line of its own; within a sentence it may mean anything. */
const RELATIVE_LINE =
  /^(?:[-*•>]\s)?(?:today|yesterday|now|heute|gestern|jetzt|aujourd’hui|aujourd'hui|hier|hoy|ayer|oggi|ieri|vandaag|gisteren|hoje|ontem)\.?$/iu;

/** Before a date: it says when the page was made. */
const STAMP = new RegExp(
  String.raw`(?<!\p{L})(?:${[
    ..."updated? modified generated rendered created cached crawled indexed refreshed posted published printed retrieved accessed fetched".split(
      " ",
    ),
    ..."as\\sof timestamp (?:local|server|current|system)\\s(?:time|date) last\\s(?:change|changed|build|login|visit|seen|sync|check|checked)".split(
      " ",
    ),
    ..."aktualisiert geändert erstellt veröffentlicht abgerufen stand(?=:|\\s\\d|\\s*$) uhrzeit mis(?:e)?\\sà\\sjour publiée? modifiée?".split(
      " ",
    ),
    ..."actualizado publicado modificado aggiornato pubblicato bijgewerkt geplaatst atualizado uppdaterad publicerad zaktualizowano обновлено".split(
      " ",
    ),
  ].join("|")})(?!\p{L})[^.;!?\d]{0,30}$`,
  "iu",
);
/** Before a time: the date that it belongs to has been left out. */
const AFTER_DATE = /‹date›\s{0,2}(?:,|at|um|à|a las|alle|om|às|·|-|–|@)?\s{0,2}$/iu;
const NEAR_MS = 26 * 3_600_000;
const DAY_MS = 86_400_000;
const MAX_BEFORE = 60;

/** `at`: when the page was fetched. Null: every date counts as noise. */
export function withoutDates(line: string, at: number | null): string {
  let text = line;
  if (RELATIVE_LINE.test(text)) return "‹date›";
  for (const pattern of RELATIVE) text = text.replace(pattern, "‹date›");
  if (!/\d/.test(text)) return text;
  for (const pattern of DATES)
    text = text.replace(pattern, (found: string, ...more: unknown[]) => {
      if (at === null) return "‹date›";
      const offset = more.at(-2) as number;
      const before = (more.at(-1) as string).slice(Math.max(0, offset - MAX_BEFORE), offset);
      return STAMP.test(before) || AFTER_DATE.test(before) || isNear(found, at) ? "‹date›" : found;
    });
  return text;
}

/** Whether it may be the day of that time, in any time zone. */
function isNear(found: string, at: number): boolean {
  return daysIn(found, at).some((day) => Math.abs(day + DAY_MS / 2 - at) <= NEAR_MS);
}

/** The days that the text may mean, as milliseconds since 1970. */
function daysIn(found: string, at: number): number[] {
  if (!Number.isFinite(at)) return [];
  const numbers = [...found.matchAll(/\d+/g)].map(([digits]) => Number(digits));
  const month = [...found.matchAll(/\p{L}+/gu)]
    .map(([name]) => MONTH_NUMBERS.get(name.toLowerCase()))
    .find((number) => number !== undefined);
  const year = numbers.find((number) => number >= 1900);
  const now = new Date(at);
  if (month !== undefined) {
    const day = numbers.find((number) => number >= 1 && number <= 31);
    const years = year === undefined ? [-1, 0, 1].map((more) => now.getUTCFullYear() + more) : [year];
    if (day !== undefined) return years.map((one) => Date.UTC(one, month, day));
    return year === now.getUTCFullYear() && month === now.getUTCMonth() ? [at - DAY_MS / 2] : [];
  }
  const [a, b, c] = numbers;
  if (a === undefined || b === undefined || c === undefined || (found.includes(":") && year === undefined)) return [];
  if (a >= 1900) return [Date.UTC(a, b - 1, c)];
  const full = c < 100 ? 2000 + c : c;
  return [Date.UTC(full, b - 1, a), Date.UTC(full, a - 1, b)];
}

const ONLY_CLOCK = new RegExp(`^${CLOCK}$`, "iu");
const CLOCK_SLACK = 3;
const MINUTES = 1440;

/** Whether both lines are the time of day at which they were fetched, in the same time zone. */
export function isSameClock(one: string, oneAt: number, other: string, otherAt: number): boolean {
  if (!ONLY_CLOCK.test(one) || !ONLY_CLOCK.test(other)) return false;
  const apart = offsetOf(one, oneAt) - offsetOf(other, otherAt);
  const turn = ((apart % MINUTES) + MINUTES) % MINUTES;
  return Math.min(turn, MINUTES - turn) <= CLOCK_SLACK;
}

function offsetOf(clock: string, at: number): number {
  const [hours = 0, minutes = 0] = [...clock.matchAll(/\d+/g)].map(([digits]) => Number(digits));
  const isLate = /p\.?m/i.test(clock) && hours < 12;
  return (hours + (isLate ? 12 : 0)) * 60 + minutes - Math.floor(at / 60_000);
}
