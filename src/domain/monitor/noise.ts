/** Noise of pages that means nothing: dates, counters, random ids. Contents are compared without it and shown with it. */
import type { NoiseClass } from "./options.ts";

const MONTHS = [
  ..."january february march april may june july august september october november december".split(" "),
  ..."jan feb mar apr jun jul aug sept sep oct nov dec".split(" "),
  ..."januar februar märz mai juni juli oktober dezember okt dez".split(" "),
  ..."janvier février mars avril juin juillet août septembre octobre novembre décembre".split(" "),
  ..."enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre".split(" "),
  ..."gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre".split(" "),
  ..."januari februari maart augustus".split(" "),
  ..."janeiro fevereiro março maio junho julho setembro outubro novembro dezembro".split(" "),
].join("|");
const DAYS = [
  ..."monday tuesday wednesday thursday friday saturday sunday mon tues tue wed thurs thu fri sat sun".split(" "),
  ..."montag dienstag mittwoch donnerstag freitag samstag sonntag".split(" "),
  ..."lundi mardi mercredi jeudi vendredi samedi dimanche".split(" "),
  ..."lunes martes miércoles jueves viernes sábado domingo".split(" "),
].join("|");
const YEAR = String.raw`(?:19|20)\d\d`;
const DAY = String.raw`\d{1,2}(?:st|nd|rd|th|er|\.)?`;
const CLOCK = String.raw`\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,6})?)?(?:\s?[ap]\.?m\b\.?)?(?:\s?(?:utc|gmt|cest|cet|est|edt|pst|pdt|bst|uhr|z)\b|\s?[+-]\d{2}:?\d{2}\b)?`;
const UNITS =
  "seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?|sekunden?|minuten?|stunden?|tage?n?|wochen?|monate?n?|jahre?n?|secondes?|heures?|jours?|semaines?|mois|ans?|segundos?|minutos?|horas?|días?|semanas?|meses|mes|años?";

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
  new RegExp(
    String.raw`\b(?:(?:about|over|almost|less than)\s+)?(?:\d+|an?|one|a few|several)\s?(?:${UNITS}|[smhdw])\s+ago\b`,
    "giu",
  ),
  new RegExp(
    String.raw`\b(?:vor|il y a|hace)\s+(?:etwa\s+|environ\s+)?(?:\d+|einer|einem|une?|una?)\s+(?:${UNITS})(?!\p{L})`,
    "giu",
  ),
  /\b(?:just now|moments ago|gerade eben)\b/giu,
  /(?:©|\(c\)|copyright)\s*(?:©\s*)?(?:19|20)\d\d(?:\s?[-–—]\s?(?:19|20)\d\d)?/giu,
];

const COUNTED = [
  ..."views? pageviews? visits? visitors? readers? reads likes? shares? comments? replies responses? votes? upvotes?".split(
    " ",
  ),
  ..."followers? subscribers? downloads? installs? plays listens? listeners? hits clicks retweets reposts reactions".split(
    " ",
  ),
  ..."favou?rites? bookmarks? watchers? watching viewing reviews ratings".split(" "),
  ..."aufrufe? kommentare? besucher leser klicks bewertungen vues? commentaires? visiteurs? lectures? vistas? visitas? comentarios?".split(
    " ",
  ),
].join("|");
const AMOUNT = String.raw`\d[\d.,’'\u00a0\u202f ]*\d|\d`;
const SCALE = String.raw`(?:\s?(?:[km]|mn|mio|mil|thousand|million)\b)?\+?`;
const COUNTERS: readonly RegExp[] = [
  new RegExp(
    String.raw`(?<![\p{L}\d$€£¥.,])(?:${AMOUNT})${SCALE}(?=\s*(?:total\s|unique\s|page\s|user\s)?(?:${COUNTED})(?!\p{L}))`,
    "giu",
  ),
  new RegExp(String.raw`(?<=(?<!\p{L})(?:${COUNTED})\s?[:(]\s?)(?:${AMOUNT})${SCALE}`, "giu"),
  new RegExp(
    String.raw`(?<![\p{L}\d$€£¥.,])(?:${AMOUNT})${SCALE}(?=\s+(?:(?:other\s)?(?:people|users?|members?|guests?|visitors?|customers?|shoppers?)\s+(?:are\s+)?(?:online|viewing|watching|looking|browsing|active)|online\b))`,
    "giu",
  ),
];
const ONLY_NUMBER = new RegExp(`^(?:${AMOUNT})${SCALE}$`, "iu");
const ONLY_COUNTED = new RegExp(`^(?:${COUNTED})$`, "iu");

/** Parameters that a server or a campaign adds on its own. */
const PARAMETER =
  /([?&;](?:amp;)?(?:[\w.-]*(?:sess(?:ion)?_?id|csrf|xsrf|nonce|token|signature|hmac|timestamp|cache_?bust(?:er)?|request_?id|trace_?id)|session|sess|sid|sig|rnd|rand(?:om)?|_|ts|cb|utm_\w+|fbclid|gclid|msclkid|mc_[ce]id|x-amz-[\w-]+))=[^&#\s)"'>\]]*/giu;
/** A parameter whose value is a random token, whatever its name. */
const TOKEN_VALUE =
  /([?&][\w.-]{1,40}=)(?=[^&#\s)"'>\]]*\d)(?=[^&#\s)"'>\]]*[a-z])[A-Za-z0-9_-]{20,}(?=[&#\s)"'>\]]|$)/gu;
const IDS: readonly [RegExp, string][] = [
  [PARAMETER, "$1=‹id›"],
  [TOKEN_VALUE, "$1‹id›"],
  [/;(?:jsessionid|phpsessid|sid)=[^/;?\s)"'>\]]*/giu, ";‹id›"],
  // The hash of a built file: `app.3f2a9c01.js`.
  [
    /([./_-])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{8,64}(?=\.(?:m?js|css|png|jpe?g|gif|webp|avif|svg|ico|woff2?)\b)/giu,
    "$1‹id›",
  ],
  [/(?<![\w/-])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![\w-])/giu, "‹id›"],
  [
    /\b((?:request|trace|session|correlation|transaction|visitor|ray|error|build)[ _-]?id|csrf(?:[ _-]?token)?|xsrf|nonce|cf-ray|etag|build)(\s*[:=#]\s*)(?=[^\s]*\d)[\w.+/=-]{4,}/giu,
    "$1$2‹id›",
  ],
  [/(?<![\w/.=-])(?=[A-Za-z0-9_+=-]*\d)(?=[A-Za-z0-9_+=-]*[A-Za-z])[A-Za-z0-9_+=-]{24,}(?![\w/.-])/gu, "‹id›"],
  // Seconds or milliseconds since 1970.
  [/(?<![\d.,])1[5-9]\d{8}(?:\d{3})?(?![\d.,]\d|\d)/gu, "‹id›"],
];

/** A line without noise: for comparing, not for showing. */
export function withoutNoise(line: string, classes: ReadonlySet<NoiseClass>): string {
  let text = line;
  if (classes.has("ids")) for (const [pattern, by] of IDS) text = text.replace(pattern, by);
  if (!/\d|ago|now|eben/i.test(text)) return text;
  if (classes.has("counters")) for (const pattern of COUNTERS) text = text.replace(pattern, "‹count›");
  if (classes.has("dates")) for (const pattern of DATES) text = text.replace(pattern, "‹date›");
  return text;
}

/** Lines without noise; a number beside a line such as "views" is a counter. */
export function linesWithoutNoise(lines: readonly string[], classes: ReadonlySet<NoiseClass>): string[] {
  return lines.map((line, index) => {
    const isCounter =
      classes.has("counters") &&
      ONLY_NUMBER.test(line) &&
      [lines[index - 1], lines[index + 1]].some((near) => near !== undefined && ONLY_COUNTED.test(near.trim()));
    return isCounter ? "‹count›" : withoutNoise(line, classes);
  });
}
