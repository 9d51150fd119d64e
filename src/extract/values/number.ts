/**
 * Parses human-readable numbers: `£51.77`, `1.234,56 €`, `1 234,56`, `($5)`, `12 %`, `1万2800円`, `3.2K`, `1.5 million`.
 * Uses the first number of the text; a percentage is the number before the sign. Null: none, or ambiguous.
 */
import { decimalMarkOf } from "./decimal-mark.ts";
import { hasCurrency, MINUS_AFTER_CURRENCY } from "./currency.ts";
import { plainDigits } from "./digits.ts";
import { multiplierAt } from "./multiplier.ts";

// Groups of three digits (two in India), separated by comma, point, apostrophe or a space character.
const NUMBER =
  /\d{1,3}(?:[ \u00a0\u2007\u2009\u202f]\d{3})+(?![\d])(?:[.,]\d+)?|\d+(?:[.,'\u2019]\d+)*(?:[eE][+-]?\d{1,3}(?![\w]))?|[.,]\d+/;
const FRACTIONS: Readonly<Record<string, number>> = {
  ...{ "¼": 0.25, "½": 0.5, "¾": 0.75, "⅓": 1 / 3, "⅔": 2 / 3, "⅛": 0.125, "⅜": 0.375, "⅝": 0.625, "⅞": 0.875 },
};

export function parseNumber(text: string, language: string | null = null): number | null {
  const plain = plainDigits(text.slice(0, 1000));
  const match = NUMBER.exec(plain);
  if (match === null) return null;
  const before = plain.slice(0, match.index);
  let rest = plain.slice(match.index + match[0].length);
  // A time of day and a ratio are not quantities.
  if (/^:\d/.test(rest)) return null;
  let value = 0;
  for (let digitsText = match[0], first = true; ; first = false) {
    const digits = normalise(digitsText, language);
    const multiplier = multiplierAt(rest, {
      language,
      isAmount: hasCurrency(before.slice(-6)) || (digits?.includes(".") ?? false),
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
  if (!Number.isFinite(value)) return null;
  return isNegative(before, rest) && value !== 0 ? -value : value;
}

/** `1½`, `2 ¾`, `1 1/2`; `4/5` without a whole number is a rating or a page as often. */
function fractionAt(text: string): number {
  const written = /^ ([1-7])[/\u2044]([2348])(?![\d/])/.exec(text);
  if (written !== null && Number(written[1]) < Number(written[2])) return Number(written[1]) / Number(written[2]);
  return FRACTIONS[/^[ \u00a0\u202f]?(\D)/.exec(text)?.[1] ?? ""] ?? 0;
}

function shifted(digits: string, exponent: number): string {
  const [number = "", innerExponent = "0"] = digits.split("e");
  return `${number}e${Number(innerExponent) + exponent}`;
}

/** To the syntax of `Number`: no groups, a decimal point. Null: contradictory marks. */
function normalise(digitsText: string, language: string | null): string | null {
  const [number = "", exponent] = digitsText.split(/e/i);
  const plain = number.replace(/[ \u00a0\u2007\u2009\u202f'\u2019]/g, "");
  const result = decimals(plain, plain.length !== number.length, language);
  return result === null || exponent === undefined ? result : `${result}e${exponent}`;
}

function decimals(plain: string, grouped: boolean, language: string | null): string | null {
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
  if (parts.length > 2) return severalParts(parts);
  const [whole = "", rest = ""] = parts;
  const looksGrouped = !grouped && rest.length === 3 && /^[1-9]\d{0,2}$/.test(whole);
  return looksGrouped && mark !== decimalMarkOf(language) ? whole + rest : `${whole}.${rest}`;
}

/** `1.000.000`, `12,34,567`; `1.299.00` has decimals; `1.2.3` and `01.05.2024` are not numbers. */
function severalParts(parts: readonly string[]): string | null {
  if (areGroups(parts)) return parts.join("");
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
  if (/(?:^|[^\p{L}\p{N}_)\]])[-\u2212\u2012\u2013]\s?(?:\p{Sc}|[A-Z]{2,3}\$?|[a-zč]{1,3}\.?)?\s?$/u.test(near))
    return true;
  if (MINUS_AFTER_CURRENCY.test(near)) return true;
  const opening = /\(([^()\d]{0,6})$/.exec(near)?.[1];
  const closing = /^([^()\d]{0,6})\)/.exec(after)?.[1];
  return opening !== undefined && closing !== undefined && (hasCurrency(opening) || hasCurrency(closing));
}
