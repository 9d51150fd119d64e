/** Parses an amount of money in visible text. */
import { squeeze } from "../dom/text.ts";
import { CODES, currencyOf, MARK, type Locale } from "./currency.ts";
import { joinedDecimals, plainDigits } from "./digits.ts";
import { parseNumber } from "./number.ts";

export interface Money {
  amount: number;
  /** Null: the sign is ambiguous. */
  currency: string | null;
}

const GAP = "[ \\u00a0\\u2007\\u2009\\u202f]";
const AMOUNT = `(?:\\d{1,3}(?:${GAP}\\d{3})+(?!\\d)|\\d+)(?:[.,'\\u2019]\\d+)*(?:[百千万萬億亿천만억]+(?: ?\\d[\\d,]*)?)*`;
const MONEY = new RegExp(`(${MARK})${GAP}?(${AMOUNT})|(${AMOUNT})([.,][-\\u2013\\u2014]{1,2})?${GAP}?(${MARK})`, "gu");

/** The first amount next to a currency mark. */
export function readMoney(text: string, locale: Locale): Money | null {
  for (const { money } of amountsIn(text, locale)) return money;
  return null;
}

/** All amounts, each with the text between it and the one before. */
export function* amountsIn(text: string, locale: Locale): Generator<{ money: Money; before: string }> {
  const plain = joinedDecimals(squeeze(plainDigits(text.slice(0, 1000))));
  let end = 0;
  for (const match of plain.matchAll(MONEY)) {
    const [whole, sign, later, earlier, noCents = "", behind] = match;
    const mark = behindAmount(plain, match.index + whole.length, sign) ?? sign ?? behind ?? "";
    const currency = currencyOf(mark, locale, whole === plain.trim());
    const before = plain.slice(end, match.index);
    end = match.index + whole.length;
    const amount = amountOf(
      later ?? earlier ?? "",
      `${sign ?? ""}${mark}`,
      noCents + plain.slice(end),
      locale.language,
    );
    if (currency !== undefined && amount !== null) yield { money: { amount, currency }, before: before };
  }
}

function amountOf(digits: string, mark: string, after: string, language: string | null): number | null {
  // `$19 99`: cents without a mark.
  if (/^\d+$/.test(digits) && /^ \d\d$/.test(after)) return null;
  // The sign and `,-` tell how to read `$1,299` and `1.299,-`.
  const sign = /[$₡]/.exec(mark)?.[0] ?? "";
  return parseNumber(`${sign}${digits}${/^[.,] ?[-\u2013\u2014]/.exec(after)?.[0] ?? ""}`, language);
}

/** `$15 CAD`: the code is more specific than the sign. */
function behindAmount(text: string, end: number, before: string | undefined): string | undefined {
  if (before === undefined || /[A-Z]/.test(before)) return undefined;
  const code = /^\s?([A-Z]{3})(?!\p{L})/u.exec(text.slice(end, end + 6))?.[1];
  return code !== undefined && CODES.has(code) ? code : undefined;
}
