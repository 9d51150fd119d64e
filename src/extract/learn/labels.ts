/** Values next to a label: `<dt>Publisher</dt><dd>…</dd>`, `<b>ISBN:</b> …`. Labels survive most layout changes. */
import type { Element, Node, TextNode } from "../dom/nodes.ts";
import { rawText, squeeze } from "../dom/text.ts";
import { nthOfType, xpathText } from "./anchors.ts";
import { isSilent, type LabelledPage, ownTexts } from "./labelled-page.ts";
import type { Occurrence } from "./occurrences.ts";

interface LabelRule {
  label: string;
  /** XPath does not treat no-break spaces as white space. */
  hasNoBreakSpace: boolean;
  /** The tag of the label element; null: the label is a text node. */
  tag: string | null;
  /** The first following sibling with this tag; null: the first following text. */
  sibling: string | null;
  /** The path from the sibling down to the value. */
  down: readonly { tag: string; nth: number }[];
  /** The text node of the reached element; null: its full text. */
  textNode: number | null;
  cost: number;
}

const NO_BREAK = "\u00a0";
const MAX_LABEL = 60;
const MAX_LEVELS = 3;
const COST = 1.3;
const LEVEL_COST = 0.5;

/** Label rules for an occurrence of a value, nearest label first. */
export function labelRules(page: LabelledPage, { element, take }: Occurrence): LabelRule[] {
  if (take.kind === "attr" || take.kind === "regex") return [];
  const rules: LabelRule[] = [];
  const textNode = take.kind === "textNode" ? take.nth : null;
  if (textNode !== null) {
    const node = ownTexts(element)[textNode - 1]!;
    const before = previousLabel(node);
    if (before !== null && nextText(before) === node) {
      addRule(rules, page, before, { sibling: null, down: [], textNode: null, cost: COST });
    }
  }
  const down: { tag: string; nth: number }[] = [];
  for (let [at, level]: [Element | null, number] = [element, 0]; at !== null && level < MAX_LEVELS; level += 1) {
    const { name } = at.tag;
    const text = previousText(at);
    if (text !== null && nextOfTag(text, name) === at) {
      const label = squeeze(text.data);
      if (isLabel(label)) {
        const cost = COST + level * LEVEL_COST + (/[:：]$/.test(label) ? 0 : 1);
        const hasNoBreakSpace = text.data.includes(NO_BREAK);
        rules.push({ label, hasNoBreakSpace, tag: null, sibling: name, down: [...down], textNode, cost });
      }
    }
    for (let before = previousLabel(at); before !== null; before = previousLabel(before)) {
      const isFirst = nextOfTag(before, name) === at;
      if (isFirst)
        addRule(rules, page, before, { sibling: name, down: [...down], textNode, cost: COST + level * LEVEL_COST });
      if (!isFirst || rules.length > 6) break;
    }
    if (name === "body") break;
    down.unshift({ tag: name, nth: nthOfType(at) });
    at = at.parent;
  }
  return rules;
}

function addRule(
  rules: LabelRule[],
  page: LabelledPage,
  element: Element,
  rule: Omit<LabelRule, "label" | "hasNoBreakSpace" | "tag">,
): void {
  const label = page.text(element);
  if (!isLabel(label)) return;
  // A label with a colon or in a label element is more reliable than any text before the value.
  const isNamed = /[:：]$/.test(label) || ["dt", "th", "label", "b", "strong"].includes(element.tag.name);
  const hasNoBreakSpace = rawText(element).includes(NO_BREAK);
  rules.push({ ...rule, label, hasNoBreakSpace, tag: element.tag.name, cost: rule.cost + (isNamed ? 0 : 1) });
}

function previousLabel(node: Node): Element | null {
  for (let at = node.prev; at !== null; at = at.prev) if (at.kind === 1 && !isSilent(at)) return at;
  return null;
}

function isLabel(text: string): boolean {
  return text.length <= MAX_LABEL && /\p{L}{2}/u.test(text);
}

/** The text right before an element. */
function previousText(element: Element): TextNode | null {
  for (let at = element.prev; at !== null && at.kind === 3; at = at.prev) if (squeeze(at.data) !== "") return at;
  return null;
}

function nextOfTag(element: Node, tag: string): Element | null {
  for (let node = element.next; node !== null; node = node.next) {
    if (node.kind === 1 && node.tag.name === tag) return node;
  }
  return null;
}

function nextText(element: Node): TextNode | null {
  for (let node = element.next; node !== null; node = node.next) {
    if (node.kind === 3 && squeeze(node.data) !== "") return node;
  }
  return null;
}

/** The values of the rule on a page. */
export function valuesByLabel(page: LabelledPage, rule: LabelRule): string[] {
  const values: string[] = [];
  for (const label of rule.tag === null ? page.labelTexts(rule.label) : page.labelled(rule.label)) {
    if (label.kind === 1 && label.tag.name !== rule.tag) continue;
    const value = valueBeside(page, label, rule);
    if (value !== null) values.push(value);
  }
  return values;
}

function valueBeside(page: LabelledPage, label: Node, { sibling, down, textNode }: LabelRule): string | null {
  if (sibling === null) {
    const node = nextText(label);
    return node === null ? null : squeeze(node.data);
  }
  let at = nextOfTag(label, sibling);
  for (const { tag, nth } of down) at = at === null ? null : childOfTag(at, tag, nth);
  if (at === null) return null;
  if (textNode === null) return page.text(at);
  const node = ownTexts(at)[textNode - 1];
  return node === undefined ? null : squeeze(node.data);
}

function childOfTag(element: Element, tag: string, nth: number): Element | null {
  let remaining = nth;
  for (let node = element.first; node !== null; node = node.next) {
    if (node.kind === 1 && node.tag.name === tag && (remaining -= 1) === 0) return node;
  }
  return null;
}

export function labelXPath({ label, hasNoBreakSpace, tag, sibling, down, textNode }: LabelRule): string {
  const text = hasNoBreakSpace ? `translate(., "${NO_BREAK}", " ")` : ".";
  const start = `//${tag ?? "text()"}[normalize-space(${text})=${xpathText(label)}]`;
  if (sibling === null) return `${start}/following-sibling::text()[normalize-space(.)][1]`;
  const steps = down.map(({ tag: name, nth }) => `/${name}[${nth}]`).join("");
  const end = textNode === null ? "" : `/text()[normalize-space(.)][${textNode}]`;
  return `${start}/following-sibling::${sibling}[1]${steps}${end}`;
}
