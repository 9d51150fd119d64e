/** The visible price, for pages without structured price data. */
import { isHidden } from "../article/visible.ts";
import { type Element, elementsBelow } from "../dom/nodes.ts";
import type { PageFacts } from "../facts/page-facts.ts";
import { type Money, readMoney } from "../values/money.ts";
import { Repetition } from "./repetition.ts";
import { shortText } from "./short-text.ts";
import { Surroundings } from "./surroundings.ts";

const MAX_ELEMENTS = 50_000;
const MAX_FOUND = 100;
const MAX_TEXT = 60;
const PRICE = /price|amount|preis|prix|precio|prezzo|preço|pris(?![a-z])/i;
/** A former price. */
const OLD =
  /(?:^|[\s_-])(?:old|was|before|strike\w*|regular|list-?price|compare|crossed|original|previous|rrp|msrp|uvp)(?:[\s_-]|$)|oldprice|wasprice|list-?price|strikethrough|compare-?at/i;
const STRUCK: ReadonlySet<string> = new Set(["del", "s", "strike"]);

/** The first short text with an amount of money and a price class, outside product lists. */
export function visiblePrice(facts: PageFacts): Money | null {
  const found = priceElements(facts);
  const listed = new Repetition(found.map(({ element }) => element));
  return found.find(({ element }) => !listed.includes(element))?.money ?? null;
}

interface Priced {
  element: Element;
  money: Money;
}

function priceElements(facts: PageFacts): Priced[] {
  const surroundings = Surroundings.of(facts);
  const found: Priced[] = [];
  let visited = 0;
  for (const element of elementsBelow(facts.document.root)) {
    visited += 1;
    if (visited > MAX_ELEMENTS || found.length >= MAX_FOUND) break;
    const marks = `${element.attr("class") ?? ""} ${element.attr("id") ?? ""}`;
    if (!PRICE.test(marks) || isOld(element) || surroundings.hold(element) || isInOld(element)) continue;
    const text = shortText(element, MAX_TEXT, (part) => isOld(part) || isHidden(part));
    const money = text === null ? null : readMoney(text, facts);
    if (money !== null) found.push({ element, money });
  }
  return found;
}

function isOld(element: Element): boolean {
  return STRUCK.has(element.tag.name) || OLD.test(`${element.attr("class") ?? ""} ${element.attr("id") ?? ""}`);
}

function isInOld(element: Element): boolean {
  for (let up = element.parent, steps = 0; up !== null && steps < 4; up = up.parent, steps += 1) {
    if (isOld(up) && up.tag.name !== "body" && up.tag.name !== "html") return true;
  }
  return false;
}
