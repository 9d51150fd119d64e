/** Noise of pages that means nothing: dates, counters, random ids. Contents are compared without it and shown with it. */
import { hash } from "node:crypto";
import { withoutDates } from "./dates.ts";
import type { NoiseClass } from "./options.ts";

// Pages are hostile: every repetition below is bounded, or starts only where the one before it has ended.

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
const AMOUNT = String.raw`\d[\d.,’'\u00a0\u202f ]{0,24}\d|\d`;
const SCALE = String.raw`(?:\s?(?:[km]|mn|mio|mil|thousand|million)\b)?\+?`;
const COUNTERS: readonly RegExp[] = [
  new RegExp(
    String.raw`(?<![\p{L}\d$€£¥.,])(?:${AMOUNT})${SCALE}(?=\s*(?:total\s|unique\s|page\s|user\s)?(?:${COUNTED})(?!\p{L}))`,
    "giu",
  ),
  new RegExp(String.raw`(?<=(?<!\p{L})(?:${COUNTED})(?:\s\p{L}{1,12}){0,2}\s?[:(]\s?)(?:${AMOUNT})${SCALE}`, "giu"),
  // Symbols for views, likes and comments.
  new RegExp(String.raw`(?<=[👁👀❤♥♡👍👎💬🗨🔁👤👥]\ufe0f?\s?)(?:${AMOUNT})${SCALE}(?![\p{L}\d])`, "giu"),
  new RegExp(
    String.raw`(?<![\p{L}\d$€£¥.,])(?:${AMOUNT})${SCALE}(?=\s+(?:(?:other\s)?(?:people|users?|members?|guests?|visitors?|customers?|shoppers?)\s+(?:are\s+)?(?:online|viewing|watching|looking|browsing|active)|online\b))`,
    "giu",
  ),
];
const MAX_AMOUNT = 40;
const ONLY_NUMBER = new RegExp(`^(?:${AMOUNT})${SCALE}$`, "iu");
const ONLY_COUNTED = new RegExp(`^(?:${COUNTED})$`, "iu");

/** Parameters that a server or a campaign adds on its own. */
const PARAMETER =
  /([?&;](?:amp;)?(?:[\w.-]*(?:sess(?:ion)?_?id|csrf|xsrf|nonce|token|signature|hmac|timestamp|cache_?bust(?:er)?|request_?id|trace_?id)|session|sess|sid|sig|rnd|rand(?:om)?|_|ts|cb|utm_\w+|fbclid|gclid|msclkid|mc_[ce]id|x-amz-[\w-]+))=[^&#\s)"'>\]]*/giu;
/** A parameter whose value is a random token, whatever its name. */
const TOKEN_VALUE = /([?&][\w.-]{1,40}=)(?=[A-Za-z_-]*\d)(?=[A-Z0-9_-]*[a-z])[A-Za-z0-9_-]{20,}(?=[&#\s)"'>\]]|$)/gu;
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
    /\b((?:request|trace|session|correlation|transaction|visitor|ray|error|build)[ _-]?id|csrf(?:[ _-]?token)?|xsrf|nonce|cf-ray|etag|build)(\s*[:=#]\s*)(?=[^\s]{0,100}\d)[\w.+/=-]{4,}/giu,
    "$1$2‹id›",
  ],
  [/(?<![\w/.=+-])(?=[A-Za-z0-9_+=-]*\d)(?=[A-Za-z0-9_+=-]*[A-Za-z])[A-Za-z0-9_+=-]{24,}(?![\w/.-])/gu, "‹id›"],
  // Seconds or milliseconds since 1970.
  [/(?<![\d.,])1[5-9]\d{8}(?:\d{3})?(?![\d.,]\d|\d)/gu, "‹id›"],
];

/** Longer lines are compared by so many characters, and by a hash of the rest. */
const MAX_LINE = 5000;

/** A line without noise: for comparing, not for showing. `at`: see `withoutDates`. */
export function withoutNoise(line: string, classes: ReadonlySet<NoiseClass>, at: number | null): string {
  if (line.length <= MAX_LINE) return pieceWithoutNoise(line, classes, at);
  const pieces: string[] = [];
  for (let from = 0; from < line.length;) {
    // Between words, so that a cut makes no noise of its own.
    const space = line.lastIndexOf(" ", from + MAX_LINE - 1);
    const end = line.length - from <= MAX_LINE ? line.length : space > from ? space + 1 : from + MAX_LINE;
    pieces.push(pieceWithoutNoise(line.slice(from, end), classes, at));
    from = end;
  }
  const text = pieces.join("");
  return text.length <= MAX_LINE
    ? text
    : `${text.slice(0, MAX_LINE)} ‹rest ${hash("sha256", text.slice(MAX_LINE), "base64url").slice(0, 16)}›`;
}

function pieceWithoutNoise(line: string, classes: ReadonlySet<NoiseClass>, at: number | null): string {
  let text = line;
  if (classes.has("ids")) for (const [pattern, by] of IDS) text = text.replace(pattern, by);
  if (classes.has("counters") && /\d/.test(text))
    for (const pattern of COUNTERS) text = text.replace(pattern, "‹count›");
  return classes.has("dates") ? withoutDates(text, at) : text;
}

/** Lines without noise; a number beside a line such as "views" is a counter. */
export function linesWithoutNoise(
  lines: readonly string[],
  classes: ReadonlySet<NoiseClass>,
  at: number | null,
): string[] {
  return lines.map((line, index) => {
    const isCounter =
      classes.has("counters") &&
      line.length <= MAX_AMOUNT &&
      ONLY_NUMBER.test(line) &&
      [lines[index - 1], lines[index + 1]].some((near) => near !== undefined && ONLY_COUNTED.test(near.trim()));
    return isCounter ? "‹count›" : withoutNoise(line, classes, at);
  });
}
