/** Multipliers after a number: `K`, `million`, `Mio.`, `万`, `lakh`, `×10^6`. */
import { compactName, compactWords } from "./compact-words.ts";

interface Multiplier {
  /** Power of ten. */
  exponent: number;
  /** Length in the text. */
  length: number;
  /** The next digits belong to the same number. */
  continues: boolean;
}

const NONE: Multiplier = { exponent: 0, length: 0, continues: false };

/** Directly follow the digits; more digits may follow. */
const MYRIADS: Readonly<Record<string, number>> = {
  ...{ 百: 2, 백: 2, 千: 3, 万: 4, 萬: 4, 億: 8, 亿: 8, 兆: 12, 천: 3, 만: 4, 억: 8, 조: 12 },
};

const WORDS: readonly [words: RegExp, exponent: number][] = [
  [/^hundred$/i, 2],
  [/^(?:thousands?|tausend|tsd\.?|tusen|duizend|тыс\.?|тысяч[аи]?|tys\.?|tis\.?)$/i, 3],
  [/^(?:lakhs?|lacs?)$/i, 5],
  [/^(?:millions?|millionen|mio\.?|mill\.|mln\.?|millones|millón|milioni|milione|milhões|milhão|miljoen)$/i, 6],
  [/^(?:millioner|miljoner|miljonit?|milionów|miliony?|milionů|миллион(?:а|ов)?|млн\.?|εκατ\.?|milyon)$/i, 6],
  [/^(?:crores?)$/i, 7],
  [/^(?:bn|milliards?|milliarden|mrd\.?|miliardi|miliardo|miljard|miliardów|miljarder|mld\.?|млрд\.?)$/i, 9],
  [/^(?:миллиард(?:а|ов)?|bilhões|bilhão|milyar|δισεκ\.?)$/i, 9],
];
/** 10¹² and 10¹⁸ in most of Europe. */
const LONG_SCALE = /^(?:b|tr)illions?$/i;

/** Names of two letters that are not also units (`mn` are minutes, `εκ.` centimetres, `mi` miles). */
const ONLY_NUMBERS = new Set(["rb", "jt", "bn"]);
/** Scripts without spaces between words. */
const UNSPACED = /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]/;
const MAX_NAME = 30;

interface Context {
  language: string | null;
  /** The number has decimals. */
  isFraction: boolean;
  /** A currency precedes the number. */
  isMoney: boolean;
}

/** Null: ambiguous. */
export function multiplierAt(text: string, context: Context): Multiplier | null {
  // Multipliers combine: 千万 is 10³ × 10⁴.
  const myriads = /^ ?([百백]?[千万萬億亿兆천만억조]+)/.exec(text);
  if (myriads !== null) {
    const exponent = [...(myriads[1] ?? "")].reduce((sum, sign) => sum + (MYRIADS[sign] ?? 0), 0);
    return { exponent, length: myriads[0].length, continues: true };
  }
  const power = /^ ?[×x·⋅*] ?10\^([+\u2212-]?\d{1,3})(?!\d)/.exec(text);
  if (power !== null)
    return { exponent: Number(power[1]?.replace("\u2212", "-")), length: power[0].length, continues: false };
  const word = /^([ \u00a0\u202f]?)([\p{L}\p{M}॰]{1,30})\.?/u.exec(text);
  if (word === null) return NONE;
  const [all, gap = "", name = ""] = word;
  // Digits and letters behind it: `5K2`, `1.2Mx`.
  if (/^\d/.test(text.slice(all.length)) && !UNSPACED.test(name)) return NONE;
  const isMoney = context.isMoney || /^ ?\p{Sc}/u.test(text.slice(all.length));
  const exponent =
    name.length === 1
      ? exponentOfLetter(name, gap !== "", { ...context, isMoney })
      : exponentOfName(text.slice(gap.length), name, { ...context, isMoney });
  if (exponent === null) return null;
  if (exponent === undefined) return NONE;
  return typeof exponent === "number"
    ? { exponent, length: all.length, continues: false }
    : { exponent: exponent.exponent, length: gap.length + exponent.length, continues: false };
}

/** Whether the number continues a multiplier: Swahili writes `elfu 5`. */
export function followsMultiplier(before: string, language: string | null): boolean {
  const word = /([\p{L}\p{M}]{1,30})\.? ?$/u.exec(before.slice(-40).replace(/[\u00a0\u202f]/g, " "))?.[1];
  return word !== undefined && compactWords(language).leading.includes(compactName(word));
}

/** `K` and `M`, next to the number, or where the language puts a space; else `6500 K` and `38 M` are no multiples. */
function exponentOfLetter(letter: string, isApart: boolean, context: Context): number | null | undefined {
  const { exponents, spaced } = compactWords(context.language);
  const usual = letter === "m" ? undefined : exponents.get(letter);
  const common = { k: 3, K: 3, M: 6, m: context.isMoney ? 6 : undefined }[letter];
  if (common !== undefined) {
    // `M` is a milliard in Indonesian.
    if (usual !== undefined && usual !== common) return null;
    if (!isApart || context.isMoney || (spaced && usual !== undefined)) return common;
    return context.isFraction ? null : undefined;
  }
  if (letter === "B" && !isApart) {
    if (usual !== undefined && usual !== 9) return null;
    // `512B` are bytes; nobody has a tenth of one.
    if (context.isMoney || context.isFraction) return 9;
    return usual === undefined ? undefined : null;
  }
  // Hours, tons or thousands: `5 t` in Danish.
  return usual === undefined || letter === "m" ? undefined : null;
}

/** The longest name of the language (`mil millones`), else a common one. */
function exponentOfName(
  text: string,
  name: string,
  { language, isMoney }: Context,
): number | { exponent: number; length: number } | null | undefined {
  // Not all who write these in other languages follow them.
  if (LONG_SCALE.test(name) && language !== null && !/^en\b/i.test(language)) return null;
  const { exponents, names } = compactWords(language);
  const start = text.slice(0, MAX_NAME).replace(/[\u00a0\u202f]/g, " ");
  const long = names.find((known) => {
    if (known.length < 3) return false;
    if (start.slice(0, known.length).toLowerCase() !== known) return false;
    return UNSPACED.test(known) || !/^[\p{L}\p{M}]/u.test(start.slice(known.length));
  });
  const exponent = long === undefined ? undefined : exponents.get(long);
  if (long !== undefined && exponent !== undefined) return exponent === null ? null : { exponent, length: long.length };
  const short = exponents.get(compactName(name));
  if (short !== undefined) return isMoney || ONLY_NUMBERS.has(name) ? short : null;
  if (isMoney && /^(?:mn|tn|trn)$/i.test(name)) return /^m/i.test(name) ? 6 : 12;
  return commonExponent(name, text.charAt(name.length) === ".");
}

function commonExponent(name: string, hasPeriod: boolean): number | undefined {
  const long = LONG_SCALE.exec(name);
  if (long !== null) return long[0].toLowerCase().startsWith("b") ? 9 : 12;
  return WORDS.find(([words]) => words.test(name) || (hasPeriod && words.test(`${name}.`)))?.[1];
}
