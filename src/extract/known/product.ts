/** What is sold, and for how much. */
import { isProduct, kindOf } from "../facts/main-entity.ts";
import type { PageFacts } from "../facts/page-facts.ts";
import { type Money, readMoney } from "../values/money.ts";
import { currencyCode, machineNumber, offerOf } from "./offers.ts";
import type { KnownField } from "./source.ts";
import { visiblePrice } from "./visible-price.ts";

export const price: KnownField = {
  name: "price",
  meaning: "the price as a number",
  order:
    "JSON-LD `offers`; microdata; `product:price:amount`, `og:price:amount`; else, unless the page is an article, the first element whose class names a price and whose text is money. Struck-out prices and lists of products do not count",
  read: (facts) => moneyOf(facts)?.amount ?? null,
};

export const currency: KnownField = {
  name: "currency",
  meaning: "the currency of the price, as three letters",
  order:
    "of the offer that gave the price: `priceCurrency`; `product:price:currency`; the sign next to the visible price, which the page's region explains (`$`, `kr`, `¥`)",
  read: (facts) => moneyOf(facts)?.currency ?? null,
};

const known = new WeakMap<PageFacts, { money: Money | null }>();

function moneyOf(facts: PageFacts): Money | null {
  let read = known.get(facts);
  if (read === undefined) {
    read = { money: readPrice(facts) };
    known.set(facts, read);
  }
  return read.money;
}

function readPrice(facts: PageFacts): Money | null {
  const named = offerOf(facts, facts.entities) ?? offerOf(facts, facts.microdata) ?? fromMeta(facts);
  return named ?? (isArticle(facts) ? null : visiblePrice(facts));
}

/** The amount, and the name under which its currency stands. */
const PAIRS: readonly (readonly [amount: string, currency: string])[] = [
  ["product:sale_price:amount", "product:sale_price:currency"],
  ["product:price:amount", "product:price:currency"],
  ["og:price:amount", "og:price:currency"],
  ["price", "pricecurrency"],
];

function fromMeta(facts: PageFacts): Money | null {
  for (const [amountName, currencyName] of PAIRS) {
    const text = facts.meta(amountName);
    const amount = text === null ? null : machineNumber(text);
    if (text === null || amount === null || amount < 0) continue;
    return { amount, currency: currencyCode(facts.meta(currencyName)) ?? readMoney(text, facts)?.currency ?? null };
  }
  return null;
}

/** What costs something on the page of an article is a subscription or an advertisement. */
function isArticle(facts: PageFacts): boolean {
  const all = [facts.entities, facts.microdata];
  if (all.some(({ graph }) => graph.entities.some(isProduct))) return false;
  if (/^article/i.test(facts.meta("og:type") ?? "")) return true;
  return all.some(({ main }) => main !== null && kindOf(main) === "article");
}
