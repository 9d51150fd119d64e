/** The price that readers of a page see, on pages that say nothing about it in their data. */
import { isHidden } from "../article/visible.ts";
import { type Element, elementsBelow } from "../dom/nodes.ts";
import { isBlock } from "../dom/text.ts";
import type { PageFacts } from "../facts/page-facts.ts";
import { type Money, readMoney } from "../values/money.ts";
import { Repetition } from "./repetition.ts";
import { Surroundings } from "./surroundings.ts";

const MAX_LOOKED = 50_000;
const MAX_FOUND = 100;
const MAX_TEXT = 60;
const PRICE = /price|amount|preis|prix|precio|prezzo|preço|pris(?![a-z])/i;
/** What it cost before. */
const OLD =
  /(?:^|[\s_-])(?:old|was|before|strike\w*|regular|list-?price|compare|crossed|original|previous|rrp|msrp|uvp)(?:[\s_-]|$)|oldprice|wasprice|list-?price|strikethrough|compare-?at/i;
const STRUCK: ReadonlySet<string> = new Set(["del", "s", "strike"]);

/** The first short text with money in it whose class speaks of a price, and which is no part of a list of products. */
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
  let looked = 0;
  for (const element of elementsBelow(facts.document.root)) {
    looked += 1;
    if (looked > MAX_LOOKED || found.length >= MAX_FOUND) break;
    const marks = `${element.attr("class") ?? ""} ${element.attr("id") ?? ""}`;
    if (!PRICE.test(marks) || isOld(element) || surroundings.hold(element) || isInOld(element)) continue;
    const money = readMoney(currentText(element), facts);
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

/** Without what is struck out; empty when it is too long for a price. */
function currentText(element: Element): string {
  const parts: string[] = [];
  let length = 0;
  const visit = (holder: Element, depth: number): void => {
    for (let node = holder.first; node !== null && length <= MAX_TEXT * 4; node = node.next) {
      if (node.kind === 3) {
        const text = node.data.replace(/\s+/g, " ");
        parts.push(text);
        length += text.length;
      } else if (depth < 20 && !isOld(node) && !isHidden(node)) {
        parts.push(isBlock(node) ? " " : "");
        visit(node, depth + 1);
        parts.push(isBlock(node) ? " " : "");
      }
    }
  };
  visit(element, 0);
  const text = parts.join("").trim();
  return text.length <= MAX_TEXT ? text : "";
}
