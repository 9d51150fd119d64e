/** The price in a page's structured data. A price and its currency come from the same offer. */
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import type { EntityGraph } from "../facts/entity-graph.ts";
import { isObject, type JsonObject, typesOf } from "../facts/json-ld.ts";
import { isProduct, kindOf } from "../facts/main-entity.ts";
import type { Entities, PageFacts } from "../facts/page-facts.ts";
import { CODES } from "../values/currency.ts";
import { type Money, readMoney } from "../values/money.ts";
import { parseNumber } from "../values/number.ts";

const MAX_OFFERS = 500;
const MAX_DEPTH = 4;

interface Offer extends Money {
  isAvailable: boolean;
  isThisPage: boolean;
}

/** Of several offers, the one with the page's URL, else the lowest one in stock, else the lowest. */
export function offerOf(facts: PageFacts, entities: Entities): Money | null {
  const product = productOf(entities);
  if (product === null) return null;
  const found: Offer[] = [];
  collect(product, { facts, graph: entities.graph, found }, 0);
  const here = found.filter((offer) => offer.isThisPage);
  const [counted, ...others] = here.length === 1 ? here : best(found);
  if (counted === undefined) return null;
  const lowest = others.reduce((best, offer) => (offer.amount < best.amount ? offer : best), counted);
  return { amount: lowest.amount, currency: lowest.currency };
}

/** Available offers in the currency of the first one: different currencies are not comparable. */
function best(offers: readonly Offer[]): Offer[] {
  const available = offers.filter((offer) => offer.isAvailable);
  const list = available.length > 0 ? available : offers;
  return list.filter((offer) => offer.currency === list[0]?.currency);
}

/** The main entity, or the single product of an article. */
function productOf({ graph, main }: Entities): JsonObject | null {
  if (main !== null && hasPrice(main)) return main;
  const reviewed = main === null ? [] : graph.valuesAt(main, "itemReviewed").filter(isObject);
  const others = main !== null && kindOf(main) === "thing" ? [] : graph.entities.filter(isProduct);
  const priced = [...reviewed, ...others].filter(hasPrice);
  return priced.length === 1 ? (priced[0] ?? null) : null;
}

function hasPrice(entity: JsonObject): boolean {
  return ["offers", "hasVariant", "price", "lowPrice", "priceSpecification"].some((key) => Object.hasOwn(entity, key));
}

interface Search {
  facts: PageFacts;
  graph: EntityGraph;
  found: Offer[];
}

function collect(entity: JsonObject, search: Search, depth: number): void {
  if (depth > MAX_DEPTH || search.found.length >= MAX_OFFERS) return;
  const direct = ownPrice(entity, search);
  if (direct !== null) {
    search.found.push({ ...direct, ...stateOf(entity, search) });
    return;
  }
  for (const key of ["offers", "hasVariant"]) {
    const before = search.found.length;
    for (const value of search.graph.valuesAt(entity, key)) if (isObject(value)) collect(value, search, depth + 1);
    if (search.found.length > before) return;
  }
}

function ownPrice(entity: JsonObject, search: Search): Money | null {
  const currency = currencyIn(entity, search);
  for (const key of ["price", "lowPrice"]) {
    const amount = amountIn(entity[key], search);
    if (amount !== null) return { amount: amount.amount, currency: currency ?? amount.currency };
  }
  for (const value of search.graph.valuesAt(entity, "priceSpecification")) {
    if (!isObject(value) || isOtherPrice(value)) continue;
    const amount = amountIn(value["price"] ?? value["minPrice"], search);
    if (amount !== null)
      return { amount: amount.amount, currency: currencyIn(value, search) ?? currency ?? amount.currency };
  }
  return null;
}

/** A list, unit or member price. */
function isOtherPrice(specification: JsonObject): boolean {
  if (/List|Strike|Regular|SRP|Invoice|MinimumAdvertised/i.test(String(specification["priceType"] ?? ""))) return true;
  if (specification["validForMemberTier"] !== undefined) return true;
  return (
    specification["referenceQuantity"] !== undefined && !typesOf(specification).includes("CompoundPriceSpecification")
  );
}

/** Machine-readable values use a decimal point in all languages; visible texts follow their language. */
function amountIn(value: JsonValue | undefined, { facts }: Search): Money | null {
  const [first] = Array.isArray(value) ? value : [value];
  const shown = isObject(first) ? first : null;
  const text = shown === null ? first : shown["@value"];
  if (typeof text === "number") return text >= 0 ? { amount: text, currency: null } : null;
  if (typeof text !== "string") return null;
  const money = readMoney(text, facts);
  const amount = shown === null ? machineNumber(text) : (money?.amount ?? parseNumber(text, facts.language));
  return amount === null || amount < 0 ? null : { amount, currency: money?.currency ?? null };
}

export function machineNumber(text: string): number | null {
  return parseNumber(text, null);
}

function currencyIn(entity: JsonObject, { facts, graph }: Search): string | null {
  for (const value of graph.valuesAt(entity, "priceCurrency")) {
    const code = currencyCode(facts.clean(isObject(value) ? value["@value"] : value));
    if (code !== null) return code;
  }
  return null;
}

export function currencyCode(text: string | null): string | null {
  const code = text?.toUpperCase() ?? "";
  return CODES.has(code) ? code : null;
}

function stateOf(entity: JsonObject, { facts, graph }: Search): Pick<Offer, "isAvailable" | "isThisPage"> {
  const availability = graph.valuesAt(entity, "availability").map((value) => JSON.stringify(value));
  const urls = graph.valuesAt(entity, "url").filter((url) => typeof url === "string");
  return {
    isAvailable: !availability.some((text) => /OutOfStock|SoldOut|Discontinued/i.test(text)),
    isThisPage: urls.some((url) => facts.resolve(url) === facts.url),
  };
}
