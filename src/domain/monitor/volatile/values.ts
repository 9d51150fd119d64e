/** Prices, amounts and stocks: what a person watches, although it may change in every run. */
export const VALUED = new RegExp(
  [
    String.raw`[$€£¥₹₽₩₺₴₪฿₫%]`,
    String.raw`(?<!\p{L})(?:usd|eur|euros?|gbp|chf|jpy|sek|nok|dkk|pln|czk|huf|cad|aud|inr|cny|krw|rub|brl|kr|zł|kč|ft|lei)(?!\p{L})`,
    String.raw`\d\s?(?:left|available|remaining|pieces?|pcs|units?|items?|stück|stk|seats?|rooms?|tickets?|kg|g|mg|lbs?|oz|ml|cl|l|litres?|liters?|km|m|cm|mm|gb|tb|mb|kwh|kw)(?!\p{L})`,
    String.raw`(?<!\p{L})(?:in|out of|low|auf) (?:stock|lager)(?!\p{L})|(?<!\p{L})sold out(?!\p{L})|(?<!\p{L})(?:stock|inventory|bestand|quantity|qty)\W{0,3}\d`,
  ].join("|"),
  "iu",
);

/** The text without its values. */
export const itemName = (text: string) =>
  text
    .toLowerCase()
    .replace(/[\d.,\s]*[$€£¥₹₽₩₺₴₪฿₫%]?[\d.,]+\s?[%€]?/gu, " ")
    .replace(/[^\p{L}]+/gu, " ")
    .trim();

/** Whether both tell of the same thing, with another price or amount. */
export function hasOtherValue(one: string, other: string): boolean {
  return one !== other && (VALUED.test(one) || VALUED.test(other)) && itemName(one) === itemName(other);
}

/** Whether one of each tells of the same thing, with another price or amount. `least`: letters of its name. */
export function hasOtherValues(ones: readonly string[], others: readonly string[], least = 0): boolean {
  const named = new Map<string, string[]>();
  for (const one of ones) {
    const name = itemName(one);
    if (name.length < least) continue;
    const list = named.get(name);
    if (list === undefined) named.set(name, [one]);
    else if (list.length < MAX_SAME && !list.includes(one)) list.push(one);
  }
  return others.some((other) => named.get(itemName(other))?.some((one) => hasOtherValue(one, other)) === true);
}

const MAX_SAME = 10;
