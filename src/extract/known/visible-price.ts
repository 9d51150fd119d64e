/** The visible price, for pages without structured price data. */
import { isHidden } from "../article/visible.ts";
import { type Element, elementsBelow } from "../dom/nodes.ts";
import type { PageFacts } from "../facts/page-facts.ts";
import { amountText, isStruck } from "../values/amount-text.ts";
import { amountsIn, type Money } from "../values/money.ts";
import { Repetition } from "./repetition.ts";
import { Surroundings } from "./surroundings.ts";

const MAX_ELEMENTS = 50_000;
const MAX_FOUND = 100;
const MAX_TEXT = 60;
const PRICE = /price|amount|preis|prix|precio|prezzo|preço|pris(?![a-z])/i;
/** A former price. */
const OLD =
  /(?:^|[\s_-])(?:old|was|before|strike\w*|regular|list-?price|compare|crossed|original|previous|rrp|msrp|uvp)(?:[\s_-]|$)|oldprice|wasprice|list-?price|strikethrough|compare-?at/i;
/** Of a unit, of the delivery, of a part. */
const OTHER =
  /(?:^|[\s_-])(?:unit|base-?price|grund-?preis|shipping|delivery|versand\w*|freight|savings?|deposit|instal?lments?|parcel\w*|loyalty|coupon)(?:[\s_-]|$)|unitprice|baseprice|grundpreis|shippingprice|versandkosten/i;
/** Words before such an amount, in the text. */
const FORMER_WORDS =
  /(?:^|[^\p{L}])(?:was|were|original(?: price)?|regular(?: price)?|list(?: price)?|rrp|msrp|before|previously|old price|instead of|reg|statt|uvp|vorher|bisher|avant|au lieu de|prix conseillé|antes|precio anterior|prezzo di listino|anziché|van|was|före|ord(?:inarie)?(?: pris)?|før)[^\p{L}\d]*(?:(?:price|preis|is|was|were|pris)[^\p{L}\d]*)*$/iu;
const SAVED_WORDS =
  /(?:^|[^\p{L}])(?:you save|save|off|sparen(?: sie)?|spare|économisez|ahorra|risparmi)[^\p{L}\d]*$/iu;
/** `12x de R$ 99,90` */
const PART_WORDS = /(?:^|\D)\d{1,3} ?[x×](?:(?: de| à| a| of| sem juros(?: de)?))?[^\p{L}\d]*$/iu;

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
    const text = amountText(element, MAX_TEXT, (part) => isOld(part) || isHidden(part));
    const money = text === null ? null : currentPrice(text, facts);
    if (money !== null) found.push({ element, money });
  }
  return found;
}

/** Not what was saved, nor an instalment; a former price only if it is the only one. */
function currentPrice(text: string, facts: PageFacts): Money | null {
  let former: Money | null = null;
  for (const { money, before } of amountsIn(text, facts)) {
    if (SAVED_WORDS.test(before) || PART_WORDS.test(before)) continue;
    if (!FORMER_WORDS.test(before)) return money;
    former ??= money;
  }
  return former;
}

function isOld(element: Element): boolean {
  const marks = `${element.attr("class") ?? ""} ${element.attr("id") ?? ""}`;
  return isStruck(element) || OLD.test(marks) || OTHER.test(marks);
}

function isInOld(element: Element): boolean {
  for (let up = element.parent, steps = 0; up !== null && steps < 4; up = up.parent, steps += 1) {
    if (isOld(up) && up.tag.name !== "body" && up.tag.name !== "html") return true;
  }
  return false;
}
