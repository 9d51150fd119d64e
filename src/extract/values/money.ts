/** Parses an amount of money in visible text. */
import { CODES, currencyOf, MARK, type Locale } from "./currency.ts";
import { plainDigits } from "./digits.ts";
import { parseNumber } from "./number.ts";

export interface Money {
  amount: number;
  /** Null: the sign is ambiguous. */
  currency: string | null;
}

const GAP = "[ \\u00a0\\u2007\\u2009\\u202f]";
const AMOUNT = `(?:\\d{1,3}(?:${GAP}\\d{3})+(?!\\d)|\\d+)(?:[.,'\\u2019]\\d+)*(?:[千万萬億亿만억]\\d*)*`;
const MONEY = new RegExp(
  `(${MARK})${GAP}?(${AMOUNT})|(${AMOUNT})(?:[.,][-\\u2013\\u2014]{1,2})?${GAP}?(${MARK})`,
  "gu",
);

/** The first amount next to a currency mark. */
export function readMoney(text: string, locale: Locale): Money | null {
  const plain = plainDigits(text.slice(0, 1000));
  for (const match of plain.matchAll(MONEY)) {
    const [whole, before, later, earlier, behind] = match;
    const mark = behindAmount(plain, match.index + whole.length, before) ?? before ?? behind ?? "";
    const currency = currencyOf(mark, locale, whole === plain.trim());
    const amount = parseNumber(later ?? earlier ?? "", locale.language);
    if (currency !== undefined && amount !== null) return { amount, currency };
  }
  return null;
}

/** `$15 CAD`: the code is more specific than the sign. */
function behindAmount(text: string, end: number, before: string | undefined): string | undefined {
  if (before === undefined || /[A-Z]/.test(before)) return undefined;
  const code = /^\s?([A-Z]{3})(?!\p{L})/u.exec(text.slice(end, end + 6))?.[1];
  return code !== undefined && CODES.has(code) ? code : undefined;
}
