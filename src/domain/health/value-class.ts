/** What a value looks like: a small closed set, so that shares of it can be compared from run to run. */
export const VALUE_CLASSES = [
  "number",
  "price",
  "date",
  "url",
  "email",
  "code",
  "text",
  "boolean",
  "list",
  "object",
] as const;
export type ValueClass = (typeof VALUE_CLASSES)[number];

export const VALUE_TYPES = ["string", "number", "boolean", "list", "object"] as const;
export type ValueType = (typeof VALUE_TYPES)[number];

const LONGEST_URL = 4000;
/** Longer texts are none of the other classes; also bounds the work of the patterns. */
const LONGEST_TOKEN = 80;

const URL_LIKE = /^(?:[a-z][a-z0-9+.-]{1,20}:\/\/|\/\/?[^\s/]|\/$)\S*$/i;
const EMAIL = /^[^\s@]{1,64}@[^\s@]+\.[^\s@.]{2,}$/;
const MONTH = "(?:jan|feb|mar|mär|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez)[a-zä]*\\.?";
const DATE = new RegExp(
  `^(?:\\d{4}[-/.]\\d{1,2}[-/.]\\d{1,2}|\\d{1,2}[-/.]\\d{1,2}[-/.]\\d{2,4}|\\d{1,2}\\.? ${MONTH},? \\d{2,4}|${MONTH} \\d{1,2},? \\d{2,4})(?:[t ,].{0,30})?$`,
  "i",
);
const AMOUNT = "[+-]?\\d[\\d.,'’\\u00a0\\u202f ]*";
const CURRENCY_CODES =
  "EUR|USD|GBP|CHF|JPY|CNY|INR|AUD|CAD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|RON|BGN|TRY|BRL|MXN|ZAR|KRW|SGD|HKD|ILS|AED|THB|RUB|UAH";
const CURRENCY = `(?:\\p{Sc}|[A-Z]{2}\\$|${CURRENCY_CODES}|kr\\.?|zł|Kč|Ft|Fr\\.|руб\\.?)`;
const NUMBER = new RegExp(`^${AMOUNT}%?$`, "u");
const PRICE = new RegExp(`^(?:${CURRENCY}\\s?${AMOUNT}(?:[-–]{1,2})?|${AMOUNT}\\s?${CURRENCY})$`, "u");
const CODE = /^(?=.*\d)[\p{L}\d][\p{L}\d_\-./#:]*$/u;

export function classOfText(value: string): ValueClass {
  const text = value.trim();
  if (text.length <= LONGEST_URL && URL_LIKE.test(text)) return "url";
  if (text.length > LONGEST_TOKEN) return "text";
  if (DATE.test(text)) return "date";
  if (NUMBER.test(text)) return "number";
  if (PRICE.test(text)) return "price";
  if (EMAIL.test(text)) return "email";
  return CODE.test(text) ? "code" : "text";
}

/**
 * The number in a text of class `number` or `price`; null: none. Of "1.299,00" and "1,299.00" the last separator is
 * the decimal one; a single separator before three digits separates thousands.
 */
export function numberIn(text: string): number | null {
  const digits = text.replace(/[^\d.,+-]/g, "").replace(/[.,+-]+$/, "");
  const last = Math.max(digits.lastIndexOf("."), digits.lastIndexOf(","));
  const decimals = last === -1 ? 0 : digits.length - last - 1;
  const seps = digits.match(/[.,]/g)?.length ?? 0;
  const isDecimal = last !== -1 && (decimals !== 3 || (seps > 1 && digits.indexOf(digits[last]!) === last));
  const whole = (isDecimal ? digits.slice(0, last) : digits).replace(/[.,]/g, "");
  const value = Number(isDecimal ? `${whole}.${digits.slice(last + 1)}` : whole);
  return Number.isFinite(value) && /\d/.test(digits) ? value : null;
}
