/** Price and currency of a product page. */
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

const prices = new WeakMap<PageFacts, { money: Money | null }>();

function moneyOf(facts: PageFacts): Money | null {
  let cached = prices.get(facts);
  if (cached === undefined) {
    cached = { money: readPrice(facts) };
    prices.set(facts, cached);
  }
  return cached.money;
}

function readPrice(facts: PageFacts): Money | null {
  const named = offerOf(facts, facts.entities) ?? offerOf(facts, facts.microdata) ?? fromMeta(facts);
  return named ?? (isArticle(facts) ? null : visiblePrice(facts));
}

/** Meta names of amounts and their currencies. */
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

/** Prices on article pages belong to subscriptions or advertisements. */
function isArticle(facts: PageFacts): boolean {
  const all = [facts.entities, facts.microdata];
  if (all.some(({ graph }) => graph.entities.some(isProduct))) return false;
  if (/^article/i.test(facts.meta("og:type") ?? "")) return true;
  return all.some(({ main }) => main !== null && kindOf(main) === "article");
}
