/** Multipliers after a number: `K`, `million`, `Mio.`, `万`, `lakh`. */

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
  ...{ 千: 3, 万: 4, 萬: 4, 億: 8, 亿: 8, 兆: 12, 천: 3, 만: 4, 억: 8, 조: 12 },
};

const WORDS: readonly [words: RegExp, exponent: number][] = [
  [/^(?:thousand|tausend|tsd\.?|tusen|duizend|тыс\.?|тысяч[аи]?|tys\.?|tis\.?)$/i, 3],
  [/^(?:lakhs?|lacs?)$/i, 5],
  [/^(?:millions?|millionen|mio\.?|mill\.|mln\.?|millones|millón|milioni|milione|milhões|milhão|miljoen)$/i, 6],
  [/^(?:millioner|miljoner|miljonit?|milionów|miliony?|milionů|миллион(?:а|ов)?|млн\.?)$/i, 6],
  [/^(?:crores?)$/i, 7],
  [/^(?:bn|milliards?|milliarden|mrd\.?|miliardi|miliardo|miljard|miliardów|miljarder|mld\.?|млрд\.?)$/i, 9],
  [/^(?:миллиард(?:а|ов)?|bilhões|bilhão)$/i, 9],
];
/** 10¹² in most of Europe. */
const BILLION = /^billions?$/i;
const THOUSANDS_IN_SPANISH = /^(?:es|pt)\b/i;

/** Null: ambiguous. */
export function multiplierAt(
  text: string,
  { language, isAmount }: { language: string | null; isAmount: boolean },
): Multiplier | null {
  // Multipliers combine: 千万 is 10³ × 10⁴.
  const myriads = /^[千万萬億亿兆천만억조]+/.exec(text)?.[0];
  if (myriads !== undefined) {
    const exponent = [...myriads].reduce((sum, sign) => sum + (MYRIADS[sign] ?? 0), 0);
    return { exponent, length: myriads.length, continues: true };
  }
  const letter = /^[kKMB](?![\p{L}\p{N}])/u.exec(text)?.[0];
  if (letter === "k" || letter === "K") return { exponent: 3, length: 1, continues: false };
  if (letter === "M") return { exponent: 6, length: 1, continues: false };
  // `512B` are bytes; nobody has a tenth of one.
  if (letter === "B") return isAmount ? { exponent: 9, length: 1, continues: false } : NONE;
  const word = /^[ \u00a0\u202f]?(\p{L}+\.?)/u.exec(text);
  if (word === null) return NONE;
  const [{ length }, name = ""] = word;
  const exponent = exponentOf(name, language) ?? exponentOf(name.replace(/\.$/, ""), language);
  if (exponent === null) return null;
  return exponent === undefined ? NONE : { exponent, length, continues: false };
}

function exponentOf(name: string, language: string | null): number | null | undefined {
  if (BILLION.test(name)) return language === null || /^en\b/i.test(language) ? 9 : null;
  if (name === "mil" && language !== null && THOUSANDS_IN_SPANISH.test(language)) return 3;
  return WORDS.find(([words]) => words.test(name))?.[1];
}
