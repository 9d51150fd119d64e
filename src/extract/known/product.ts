/** What is sold, and for how much. */
import { elementsBelow } from "../dom/nodes.ts";
import { textOf } from "../dom/text.ts";
import type { PageFacts } from "../facts/page-facts.ts";
import { parseNumber } from "../values/number.ts";
import { first, jsonLd, type KnownField, meta, microdata } from "./source.ts";

const SYMBOLS: Readonly<Record<string, string>> = {
  "£": "GBP",
  "€": "EUR",
  $: "USD",
  "¥": "JPY",
  "₹": "INR",
  "₽": "RUB",
  "₩": "KRW",
  "₺": "TRY",
  "₴": "UAH",
  "₪": "ILS",
  zł: "PLN",
  Kč: "CZK",
  R$: "BRL",
  CHF: "CHF",
};
const MONEY =
  /(?:[£€¥₹₽₩₺₴₪]|R?\$|zł|Kč|\bCHF\b|\b[A-Z]{3}\b)\s*\d|\d\s*(?:[£€¥₹₽₩₺₴₪$]|zł|Kč|\bCHF\b|\b(?:EUR|USD|GBP)\b)/;

/** Pages without any data about themselves: the first short text with money in it whose class speaks of a price. */
function visiblePrice(facts: PageFacts): string | null {
  let looked = 0;
  for (const element of elementsBelow(facts.document.root)) {
    looked += 1;
    if (looked > 50_000) return null;
    const marks = element.attr("class") ?? element.attr("id");
    if (marks === undefined || !/price|amount/i.test(marks) || /old|was|before|strike|regular|list-?price/i.test(marks))
      continue;
    const text = textOf(element);
    if (text.length <= 60 && MONEY.test(text)) return text;
  }
  return null;
}

export const price: KnownField = {
  name: "price",
  meaning: "the price as a number",
  order:
    "JSON-LD `offers`; microdata; `product:price:amount`, `og:price:amount`; else the first element whose class names a price and whose text is money",
  read: (facts) => {
    const named = first(
      facts,
      jsonLd("offers.price", "offers.lowPrice", "offers.priceSpecification.price", "offers.offers.price", "price"),
      microdata("offers.price", "price", "offers.lowPrice", "lowPrice"),
      meta("product:price:amount", "og:price:amount", "price"),
      visiblePrice,
    );
    return named === null ? null : parseNumber(named, facts.language);
  },
};

export const currency: KnownField = {
  name: "currency",
  meaning: "the currency of the price, as three letters",
  order: "JSON-LD `offers.priceCurrency`; microdata; `product:price:currency`; the sign next to the visible price",
  read: (facts) => {
    const named = first(
      facts,
      jsonLd("offers.priceCurrency", "offers.priceSpecification.priceCurrency", "offers.offers.priceCurrency"),
      microdata("offers.priceCurrency", "priceCurrency"),
      meta("product:price:currency", "og:price:currency"),
    );
    if (named !== null) return named.toUpperCase();
    const text = visiblePrice(facts);
    if (text === null) return null;
    const code = /\b(EUR|USD|GBP|JPY|CHF|CAD|AUD|SEK|NOK|DKK|PLN|CZK|INR|BRL|CNY)\b/.exec(text)?.[1];
    return code ?? Object.entries(SYMBOLS).findLast(([sign]) => text.includes(sign))?.[1] ?? null;
  },
};
