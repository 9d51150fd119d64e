/** Values beside a label: `<dt>Publisher</dt><dd>…</dd>`, `<b>ISBN:</b> …`. A label survives most changes of layout. */
import type { Element, Node, TextNode } from "../dom/nodes.ts";
import { rawText, squeeze } from "../dom/text.ts";
import { nthOfType, xpathText } from "./anchors.ts";
import { isSilent, type LabelledPage, ownTexts } from "./labelled-page.ts";
import type { Occurrence } from "./occurrences.ts";

interface LabelRule {
  label: string;
  /** It has no-break spaces, which XPath does not count as white space. */
  isUnbroken: boolean;
  /** The tag of the element whose whole text is the label; null: it is a text beside the value. */
  tag: string | null;
  /** What follows it: the first sibling of this tag, or the first text. */
  sibling: string | null;
  /** From the sibling down to the value: tag and position of each child. */
  down: readonly { tag: string; nth: number }[];
  /** The text node in what was reached; null: its whole text. */
  textNode: number | null;
  cost: number;
}

const NO_BREAK = "\u00a0";
const MAX_LABEL = 60;
const MAX_LEVELS = 3;
const COST = 1.3;
const LEVEL_COST = 0.5;

/** Labels of one place where a value stands, the nearest first. */
export function labelRules(page: LabelledPage, { element, take }: Occurrence): LabelRule[] {
  if (take.kind === "attr" || take.kind === "regex") return [];
  const rules: LabelRule[] = [];
  const textNode = take.kind === "textNode" ? take.nth : null;
  if (textNode !== null) {
    const node = ownTexts(element)[textNode - 1]!;
    const before = previousLabel(node);
    if (before !== null && nextText(before) === node) {
      add(rules, page, before, { sibling: null, down: [], textNode: null, cost: COST });
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
        const isUnbroken = text.data.includes(NO_BREAK);
        rules.push({ label, isUnbroken, tag: null, sibling: name, down: [...down], textNode, cost });
      }
    }
    for (let before = previousLabel(at); before !== null; before = previousLabel(before)) {
      const isFirst = nextOfTag(before, name) === at;
      if (isFirst)
        add(rules, page, before, { sibling: name, down: [...down], textNode, cost: COST + level * LEVEL_COST });
      if (!isFirst || rules.length > 6) break;
    }
    if (name === "body") break;
    down.unshift({ tag: name, nth: nthOfType(at) });
    at = at.parent;
  }
  return rules;
}

function add(
  rules: LabelRule[],
  page: LabelledPage,
  element: Element,
  rule: Omit<LabelRule, "label" | "isUnbroken" | "tag">,
): void {
  const label = page.text(element);
  if (!isLabel(label)) return;
  // A label that ends like one, or stands where labels stand, is surer than any text before the value.
  const isNamed = /[:：]$/.test(label) || ["dt", "th", "label", "b", "strong"].includes(element.tag.name);
  const isUnbroken = rawText(element).includes(NO_BREAK);
  rules.push({ ...rule, label, isUnbroken, tag: element.tag.name, cost: rule.cost + (isNamed ? 0 : 1) });
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

/** What the rule gives on a page. */
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
  let left = nth;
  for (let node = element.first; node !== null; node = node.next) {
    if (node.kind === 1 && node.tag.name === tag && (left -= 1) === 0) return node;
  }
  return null;
}

export function labelXPath({ label, isUnbroken, tag, sibling, down, textNode }: LabelRule): string {
  const text = isUnbroken ? `translate(., "${NO_BREAK}", " ")` : ".";
  const start = `//${tag ?? "text()"}[normalize-space(${text})=${xpathText(label)}]`;
  if (sibling === null) return `${start}/following-sibling::text()[normalize-space(.)][1]`;
  const steps = down.map(({ tag: name, nth }) => `/${name}[${nth}]`).join("");
  const end = textNode === null ? "" : `/text()[normalize-space(.)][${textNode}]`;
  return `${start}/following-sibling::${sibling}[1]${steps}${end}`;
}
