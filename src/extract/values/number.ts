/**
 * Numbers as people write them: `£51.77`, `1.234,56 €`, `1 234,56`, `(5)`, `12 %`. The first number of the text counts;
 * a percentage is the number before the sign.
 */

/** Languages that write the decimal comma; it decides only what the text itself leaves open (`1.234`, `1,234`). */
const COMMA_LANGUAGES = new Set(
  "af az be bg bs ca cs da de el es et eu fi fr gl hr hu hy id is it ka kk lt lv mk nb nl nn no pl pt ro ru sk sl sq sr sv tr uk uz vi".split(
    " ",
  ),
);

// Groups are three digits (two in India) apart by comma, point, apostrophe or a kind of space.
const NUMBER =
  /\d{1,3}(?:[ \u00a0\u2007\u2009\u202f]\d{3})+(?![\d])(?:[.,]\d+)?|\d+(?:[.,'\u2019\u066b\u066c]\d+)*(?:[eE][+-]?\d{1,3}(?![\w]))?|[.,]\d+/;
const OTHER_DIGITS = /[\u0660-\u0669\u06f0-\u06f9\u0966-\u096f\uff10-\uff19]/g;

export function parseNumber(text: string, language: string | null = null): number | null {
  const plain = text.slice(0, 1000).replace(OTHER_DIGITS, (digit) => String(digitValue(digit)));
  const match = NUMBER.exec(plain);
  if (match === null) return null;
  const value = Number(normalise(match[0], language));
  if (!Number.isFinite(value)) return null;
  const before = plain.slice(0, match.index);
  const after = plain.slice(match.index + match[0].length);
  return isNegative(before, after) && value !== 0 ? -value : value;
}

function digitValue(digit: string): number {
  const code = digit.charCodeAt(0);
  for (const zero of [0x0660, 0x06f0, 0x0966, 0xff10]) if (code >= zero && code <= zero + 9) return code - zero;
  return 0;
}

/** To what `Number` reads: groups removed, a point before the decimals. */
function normalise(written: string, language: string | null): string {
  const [number = "", exponent] = written.replaceAll("\u066b", ".").replaceAll("\u066c", ",").split(/e/i);
  const plain = number.replace(/[ \u00a0\u2007\u2009\u202f'\u2019]/g, "");
  const grouped = plain.length !== number.length;
  const result = decimals(plain, grouped, language);
  return exponent === undefined ? result : `${result}e${exponent}`;
}

function decimals(plain: string, grouped: boolean, language: string | null): string {
  const comma = plain.lastIndexOf(",");
  const point = plain.lastIndexOf(".");
  if (comma < 0 && point < 0) return plain;
  if (comma >= 0 && point >= 0) {
    // Of two kinds the last is the decimal one.
    return comma > point ? plain.replaceAll(".", "").replace(",", ".") : plain.replaceAll(",", "");
  }
  const mark = comma >= 0 ? "," : ".";
  const parts = plain.split(mark);
  if (parts.length > 2) return parts.join("");
  const [whole = "", rest = ""] = parts;
  const looksGrouped = !grouped && rest.length === 3 && /^[1-9]\d{0,2}$/.test(whole);
  const decimalMark = language !== null && COMMA_LANGUAGES.has(language.slice(0, 2).toLowerCase()) ? "," : ".";
  return looksGrouped && mark !== decimalMark ? whole + rest : `${whole}.${rest}`;
}

/** A minus before the number or its currency, or the accountants' brackets; `SKU-12` and `10-20` hold no minus. */
function isNegative(before: string, after: string): boolean {
  if (/(?:^|[^\w)\]])[-\u2212\u2012\u2013]\s?\p{Sc}?\s?$/u.test(before.slice(-8))) return true;
  return /\(\s*\p{Sc}?\s?$/u.test(before.slice(-6)) && /^\s?\p{Sc}?\s*\)/u.test(after.slice(0, 6));
}
