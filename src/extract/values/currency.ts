/** Maps currency signs and words to codes. Ambiguous ones (`$`, `kr`, `¥`) depend on the page's region. */

/** The locale of a text. */
export interface Locale {
  language: string | null;
  /** Country codes; several when the page contradicts itself. */
  regions: readonly string[];
}

type ByCountry = Readonly<Record<string, string>>;

export const CODES: ReadonlySet<string> = new Set(Intl.supportedValuesOf("currency"));

const DOLLARS: ByCountry = {
  ...{ US: "USD", PR: "USD", EC: "USD", SV: "USD", GU: "USD", CA: "CAD", AU: "AUD", NZ: "NZD", HK: "HKD", SG: "SGD" },
  ...{ TW: "TWD", MX: "MXN", AR: "ARS", CL: "CLP", CO: "COP", UY: "UYU", DO: "DOP", JM: "JMD", TT: "TTD", BB: "BBD" },
  ...{ BS: "BSD", BZ: "BZD", BM: "BMD", KY: "KYD", FJ: "FJD", GY: "GYD", NA: "NAD", BN: "BND", LR: "LRD", SR: "SRD" },
};
/** Languages of several countries with their own dollar or peso. */
const AMBIGUOUS_DOLLAR_LANGUAGES: ReadonlySet<string> = new Set(["es", "fr", "pt", "zh"]);
const CROWNS: ByCountry = { SE: "SEK", NO: "NOK", DK: "DKK", FO: "DKK", GL: "DKK", IS: "ISK" };
const CROWN_LANGUAGES: ByCountry = { sv: "SE", nb: "NO", nn: "NO", no: "NO", da: "DK", fo: "FO", kl: "GL", is: "IS" };
const YUAN: ByCountry = { CN: "CNY", JP: "JPY" };
const YUAN_LANGUAGES: ByCountry = { zh: "CN", "zh-hans": "CN", "zh-hant": "TW", ja: "JP" };
const ROUND: ByCountry = { CN: "CNY", TW: "TWD", HK: "HKD", MO: "MOP" };
const RUPEES: ByCountry = { IN: "INR", PK: "PKR", LK: "LKR", NP: "NPR", MU: "MUR", SC: "SCR" };
const RUPEE_LANGUAGES: ByCountry = { hi: "IN", mr: "IN", gu: "IN", te: "IN", kn: "IN", ur: "PK", si: "LK", ne: "NP" };
const ROUBLES: ByCountry = { RU: "RUB", BY: "BYN" };
const LEI: ByCountry = { RO: "RON", MD: "MDL" };
const BOLIVIANS: ByCountry = { BO: "BOB", VE: "VES" };
const RIALS: ByCountry = { IR: "IRR", OM: "OMR", YE: "YER", SA: "SAR", QA: "QAR" };

/** By the page's countries, which must agree; else by its language. */
function pick(table: ByCountry, locale: Locale, languages: ByCountry = {}): string | null {
  const named = [...new Set(locale.regions.flatMap((region) => table[region] ?? []))];
  if (named.length > 0) return named.length === 1 ? (named[0] ?? null) : null;
  const tag = locale.language?.toLowerCase() ?? "";
  const country = languages[tag.split("-").slice(0, 2).join("-")] ?? languages[tag.split("-")[0] ?? ""];
  return (country === undefined ? undefined : table[country]) ?? null;
}

function dollar(locale: Locale): string | null {
  if (locale.regions.some((region) => DOLLARS[region] !== undefined)) return pick(DOLLARS, locale);
  const spoken = locale.language?.split("-")[0]?.toLowerCase() ?? "en";
  return locale.regions.length === 0 && AMBIGUOUS_DOLLAR_LANGUAGES.has(spoken) ? null : "USD";
}

type Meaning = string | ((locale: Locale) => string | null);

const SIGNS: Readonly<Record<string, Meaning>> = {
  ...{ "£": "GBP", "￡": "GBP", "€": "EUR", "₹": "INR", "₽": "RUB", "₩": "KRW", "￦": "KRW", "₺": "TRY", "₴": "UAH" },
  ...{ "₪": "ILS", "₫": "VND", "฿": "THB", "₦": "NGN", "₱": "PHP", "₲": "PYG", "₡": "CRC", "₸": "KZT", "₮": "MNT" },
  ...{ "₭": "LAK", "₵": "GHS", "₼": "AZN", "₾": "GEL", "৳": "BDT", "៛": "KHR", "֏": "AMD", "؋": "AFN" },
  $: dollar,
  "＄": dollar,
  "¥": (locale) => pick(YUAN, locale, YUAN_LANGUAGES),
  "￥": (locale) => pick(YUAN, locale, YUAN_LANGUAGES),
  "₨": (locale) => pick(RUPEES, locale, RUPEE_LANGUAGES),
  "﷼": (locale) => pick(RIALS, locale, { fa: "IR" }),
};

/** Lower case. Matched as whole words, with or without a period. */
const WORDS: Readonly<Record<string, Meaning>> = {
  ...{
    zł: "PLN",
    kč: "CZK",
    ft: "HUF",
    лв: "BGN",
    грн: "UAH",
    din: "RSD",
    дин: "RSD",
    ден: "MKD",
    rp: "IDR",
    rm: "MYR",
  },
  ...{
    fr: "CHF",
    sfr: "CHF",
    "s/": "PEN",
    円: "JPY",
    원: "KRW",
    тг: "KZT",
    тенге: "KZT",
    đ: "VND",
    tl: "TRY",
    ksh: "KES",
  },
  ...{
    руб: (locale) => pick(ROUBLES, locale, { ru: "RU", be: "BY" }),
    lei: (locale) => pick(LEI, locale, { ro: "RO" }),
  },
  ...{ บาท: "THB", "ر.س": "SAR", "د.إ": "AED", "ج.م": "EGP", "ر.ق": "QAR", "د.ك": "KWD" },
  р: (locale) => pick(ROUBLES, locale, { ru: "RU", be: "BY" }),
  kr: (locale) => pick(CROWNS, locale, CROWN_LANGUAGES),
  元: (locale) => pick(ROUND, locale, YUAN_LANGUAGES),
  rs: (locale) => pick(RUPEES, locale, RUPEE_LANGUAGES),
  ":-": (locale) => pick(CROWNS, locale, CROWN_LANGUAGES),
  bs: (locale) => pick(BOLIVIANS, locale),
};

/** Letters before or after `$`. */
const DOLLAR_LETTERS: ByCountry = {
  ...{ US: "USD", U: "USD", CA: "CAD", C: "CAD", CDN: "CAD", AU: "AUD", A: "AUD", NZ: "NZD", HK: "HKD", SG: "SGD" },
  ...{ S: "SGD", MX: "MXN", MEX: "MXN", R: "BRL", NT: "TWD", TT: "TTD", J: "JMD", JA: "JMD", BZ: "BZD", RD: "DOP" },
  ...{ EC: "XCD", FJ: "FJD", AR: "ARS", CLP: "CLP", COL: "COP", COP: "COP", BDS: "BBD", B: "BND", N: "NAD", G: "GYD" },
};

const letters = Object.keys(DOLLAR_LETTERS).toSorted((a, b) => b.length - a.length);
const words = Object.keys(WORDS).map((word) => word.replace(/[/.]/g, "\\$&"));

/** A regular expression fragment for currency marks; words match at letter boundaries. */
export const MARK = [
  `(?<![\\p{L}])(?:${letters.join("|")})\\$`,
  `\\$\\s?(?:US|CA|AU|NZ|CAD|USD|AUD|MXN)(?![\\p{L}])`,
  `(?<![\\p{L}])[A-Z]{3}(?![\\p{L}])\\s?\\$?`,
  `[${Object.keys(SIGNS).join("")}]\\s?(?:[A-Z]{3}(?![\\p{L}]))?`,
  `(?<![\\p{L}])(?:${[...words, ...words.map(capital), ...words.map((word) => word.toUpperCase())].join("|")})(?![\\p{L}])\\.?`,
].join("|");

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** Codes that are as often a word. */
const WORD_LIKE_CODES: ReadonlySet<string> = new Set([
  "ALL",
  "TOP",
  "CUP",
  "TRY",
  "GEL",
  "MOP",
  "PEN",
  "BAM",
  "LAK",
  "SOS",
]);

/** Undefined: not a currency mark. Null: ambiguous. */
export function currencyOf(mark: string, locale: Locale, isAlone = true): string | null | undefined {
  const code = /[A-Z]{3}/.exec(mark)?.[0];
  if (code !== undefined && CODES.has(code) && (isAlone || !WORD_LIKE_CODES.has(code))) return code;
  const lettered = /([A-Za-z]+)\s?\$/.exec(mark)?.[1] ?? /\$\s?([A-Za-z]+)/.exec(mark)?.[1];
  if (lettered !== undefined) return DOLLAR_LETTERS[lettered.toUpperCase()];
  const sign = [...mark].find((character) => Object.hasOwn(SIGNS, character));
  const word = mark.trim().replace(/\.$/, "").toLowerCase();
  const meaning = sign === undefined ? (Object.hasOwn(WORDS, word) ? WORDS[word] : undefined) : SIGNS[sign];
  return typeof meaning === "function" ? meaning(locale) : meaning;
}

const WORD_NEAR =
  /(?:^|[^\p{L}])(?:kr|Kr|zł|Kč|Ft|lei|Lei|TL|лв|руб|р|грн|din|дин|Rs|Rp|RM|Fr|SFr|Bs|S\/|Kč|円|元|원)(?:\.|$|[^\p{L}])/u;

/** Whether the text contains any currency mark. */
export function hasCurrency(text: string): boolean {
  if (/\p{Sc}/u.test(text) || WORD_NEAR.test(text)) return true;
  return [...text.matchAll(/[A-Z]{3}/g)].some(([code]) => CODES.has(code));
}

/** `CHF-4.20`, as in Switzerland, but not `SKU-12`. */
export const MINUS_AFTER_CURRENCY = new RegExp(`(?:^|[^A-Za-z])(?:${[...CODES].join("|")}|kr\\.?)\\s?[-\\u2212]\\s?$`);
