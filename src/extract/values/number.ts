/**
 * Parses human-readable numbers: `£51.77`, `1.234,56 €`, `1 234,56`, `($5)`, `12 %`, `1万2800円`, `3.2K`, `1.5 million`.
 * Uses the first number of the text; a percentage is the number before the sign. Null: none, or ambiguous.
 */
import { decimalMarkOf } from "./decimal-mark.ts";
import { hasCurrency, MINUS_AFTER_CURRENCY } from "./currency.ts";
import { joinedDecimals, plainDigits } from "./digits.ts";
import { followsMultiplier, multiplierAt } from "./multiplier.ts";

// Groups of three digits (two in India), separated by comma, point, apostrophe or a space character.
const NUMBER =
  /\d{1,3}(?:[ \u00a0\u2007\u2009\u202f]\d{3})+(?![\d])(?:[.,]\d+)?|\d+(?:[.,'\u2019]\d+)*(?:[eE][+\u2212-]?\d{1,3}(?![\w]))?|(?<!\p{L})[.,]\d+/u;
/** `¼`, `⅚`. */
const FRACTION = /[\u00bc-\u00be\u2150-\u215e]/;

export function parseNumber(text: string, language: string | null = null): number | null {
  const plain = joinedDecimals(plainDigits(text.slice(0, 1000)));
  const match = NUMBER.exec(plain);
  const before = plain.slice(0, match?.index);
  const fraction = FRACTION.exec(before);
  if (fraction !== null) return signed(valueOfFraction(fraction[0]), before.slice(0, fraction.index), "");
  if (match === null) return null;
  let rest = plain.slice(match.index + match[0].length);
  if (isSomethingElse(match[0], before, rest) || followsMultiplier(before, language)) return null;
  let value = 0;
  for (let digitsText = match[0], first = true; ; first = false) {
    const digits = normalise(digitsText, markIn(digitsText, before, rest, language));
    const multiplier = multiplierAt(rest, {
      language,
      isMoney: hasCurrency(before.slice(-6)),
      isFraction: digits?.includes(".") ?? false,
    });
    if (digits === null || multiplier === null) return null;
    value += multiplier.exponent === 0 ? Number(digits) : Number(shifted(digits, multiplier.exponent));
    rest = rest.slice(multiplier.length);
    // 1万2800, 3億5000万: the following digits are added.
    const more = multiplier.continues ? /^\s?(\d+(?:[.,]\d+)*)/.exec(rest) : null;
    if (more === null) {
      if (first) value += fractionAt(rest);
      break;
    }
    digitsText = more[1] ?? "";
    rest = rest.slice(more[0].length);
  }
  const power = /^\^([+-]?\d{1,3})(?!\d)/.exec(rest)?.[1];
  if (power !== undefined) value **= Number(power);
  return Number.isFinite(value) ? signed(value, before, rest) : null;
}

function signed(value: number, before: string, rest: string): number {
  return isNegative(before, rest) && value !== 0 ? -value : value;
}

/** Texts that start with digits and are not that number. */
function isSomethingElse(digits: string, before: string, rest: string): boolean {
  // A time of day, a ratio; contradictory marks: `1 234.567,89`.
  if (/^:\d|^[.,]\d/.test(rest)) return true;
  // `1/2` is a half as often as one of two.
  const [, lower = ""] = /^[/\u2044]([2348])(?![\d/.,])/.exec(rest) ?? [];
  if (lower !== "" && /^[1-7]$/.test(digits) && !/[\d/]\s?$/.test(before) && isReduced(Number(digits), Number(lower)))
    return true;
  // `$19 99`: cents without a mark.
  return /^\d+$/.test(digits) && /^ \d\d\s*$/.test(rest) && hasCurrency(before.slice(-6));
}

function isReduced(upper: number, lower: number): boolean {
  return upper < lower && (upper % 2 === 1 || lower === 3);
}

/** The decimal mark for a number with one mark and three digits after it. */
function markIn(digits: string, before: string, rest: string, language: string | null): "," | "." {
  // `1.299,-`: no cents.
  const noCents = /^ ?([.,]) ?[-\u2013\u2014]/.exec(rest)?.[1];
  if (noCents === "," || noCents === ".") return noCents;
  if (/^\d{1,3}[.,]\d{3}$/.test(digits)) {
    // No amount has a thousandth of a colón, and Costa Rica writes both marks.
    if (/₡\s?$/.test(before) || /^\s?₡/.test(rest)) return digits.includes(",") ? "." : ",";
    // Nor one of a dollar, and some of these countries write `$1,299`, others `$1.299`.
    if (/\$\s?$/.test(before) && SEVERAL_DOLLARS.test(language ?? ""))
      return digits.includes(",") ? "." : /^\w+$/.test(language ?? "") ? "," : decimalMarkOf(language);
  }
  return decimalMarkOf(language);
}

/** Languages of countries with dollars or pesos of their own, that disagree on the mark. */
const SEVERAL_DOLLARS = /^(?:es|fr|pt)\b/i;

/** `1½`, `2 ¾`, `1 1/2`; `4/5` without a whole number is a rating or a page as often. */
function fractionAt(text: string): number {
  const written = /^ ([1-7])[/\u2044]([2348])(?![\d/])/.exec(text);
  if (written !== null && Number(written[1]) < Number(written[2])) return Number(written[1]) / Number(written[2]);
  const sign = /^[ \u00a0\u202f]?(\D)/.exec(text)?.[1] ?? "";
  return FRACTION.test(sign) ? valueOfFraction(sign) : 0;
}

/** Unicode decomposes `⅚` to `5⁄6`. */
function valueOfFraction(sign: string): number {
  const [upper, lower] = sign.normalize("NFKD").split("\u2044").map(Number);
  return upper! / lower!;
}

function shifted(digits: string, exponent: number): string {
  const [number = "", innerExponent = "0"] = digits.split("e");
  return `${number}e${Number(innerExponent) + exponent}`;
}

/**
 * To the syntax of `Number`: no groups, a decimal point. `decimal` decides where both are possible. Null: contradictory
 * marks.
 */
function normalise(digitsText: string, decimal: "," | "."): string | null {
  const [number = "", exponent] = digitsText.replace("\u2212", "-").split(/e/i);
  const plain = number.replace(/[ \u00a0\u2007\u2009\u202f'\u2019]/g, "");
  const result = decimals(plain, plain.length !== number.length, decimal);
  return result === null || exponent === undefined ? result : `${result}e${exponent}`;
}

function decimals(plain: string, grouped: boolean, usual: "," | "."): string | null {
  const comma = plain.lastIndexOf(",");
  const point = plain.lastIndexOf(".");
  if (comma < 0 && point < 0) return plain;
  if (comma >= 0 && point >= 0) {
    // With two kinds of marks, the last one is the decimal mark, and occurs once.
    const [decimal, group] = comma > point ? [",", "."] : [".", ","];
    const [whole = "", rest = "", ...more] = plain.split(decimal);
    return more.length === 0 && areGroups(whole.split(group)) ? `${whole.replaceAll(group, "")}.${rest}` : null;
  }
  const mark = comma >= 0 ? "," : ".";
  const parts = plain.split(mark);
  if (parts.length > 2) return severalParts(parts, mark);
  const [whole = "", rest = ""] = parts;
  const looksGrouped = !grouped && rest.length === 3 && /^[1-9]\d{0,2}$/.test(whole);
  return looksGrouped && mark !== usual ? whole + rest : `${whole}.${rest}`;
}

/** `1.000.000`, `12,34,567`; `1.299.00` has decimals; `1.2.3` and `01.05.2024` are not numbers. */
function severalParts(parts: readonly string[], mark: string): string | null {
  // Groups of two have commas: `1.23.456` is none.
  if (areGroups(parts)) return mark === "." && parts.at(-2)?.length === 2 && parts.length > 2 ? null : parts.join("");
  const last = parts.at(-1) ?? "";
  const whole = parts.slice(0, -1);
  return last.length <= 2 && whole.length > 1 && areGroups(whole) ? `${whole.join("")}.${last}` : null;
}

/** Groups of three, or the Indian system: groups of two and a final group of three. */
function areGroups([first = "", ...groups]: readonly string[]): boolean {
  if (groups.length === 0) return true;
  if (!/^[1-9]\d{0,2}$/.test(first)) return false;
  const last = groups.at(-1) ?? "";
  const between = groups.slice(0, -1);
  return (
    last.length === 3 && (between.every(({ length }) => length === 3) || between.every(({ length }) => length === 2))
  );
}

/** A minus before the number or its currency, or accounting parentheses; not in `SKU-12`, `10-20` and `(128)`. */
function isNegative(before: string, after: string): boolean {
  const near = before.slice(-8);
  if (
    /(?:^|[^\p{L}\p{N}_)\]])[-\u2212\u2012\u2013]\s?(?:[A-Z]{0,3}\p{Sc}|[A-Z]{2,3}|(?:Rs|Rp|[a-zč]{1,3})\.?|%)?\s?$/u.test(
      near,
    )
  )
    return true;
  if (MINUS_AFTER_CURRENCY.test(near)) return true;
  if (/\p{Sc}\s?\($/u.test(near) && after.startsWith(")")) return true;
  const opening = /\(([^()\d]{0,6})$/.exec(near)?.[1];
  const closing = /^([^()\d]{0,6})\)/.exec(after)?.[1];
  return opening !== undefined && closing !== undefined && (hasCurrency(opening) || hasCurrency(closing));
}
