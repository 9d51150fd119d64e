/** What identifies an element on pages of the same layout: its id, a class, an attribute, or only its tag. */
import type { Element } from "../dom/nodes.ts";

export interface Anchor {
  tag: string;
  /** Null: the tag alone. */
  attr: { name: "id" | "class" | string; value: string } | null;
  /** Position among its siblings of the same tag, from 1; null: any. */
  nth: number | null;
  /** How easily a change of layout breaks it. */
  cost: number;
}

const COSTS: Readonly<Record<string, number>> = { id: 1, class: 1.6 };
const ATTRIBUTE_COST = 1.2;
const NTH_COST = 2.2;
const GENERATED_COST = 5;
/** Tags that a page has once, or that say what they hold. */
const TAG_COSTS: Readonly<Record<string, number>> = { title: 2.2, h1: 1.8, h2: 2.8, h3: 3, time: 2.4, address: 2 };
const TAG_COST = 3.5;
/** Attributes that name what an element holds. */
const NAMING =
  /^(?:itemprop|itemtype|property|name|rel|role|headers|aria-label|data-(?:test|testid|test-id|qa|hook|field|role|name|label|automation(?:-id)?))$/;
const MAX_VALUE = 80;

const ANCHORS = new WeakMap<Element, readonly Anchor[]>();

/** The last one is the tag alone. */
export function anchorsOf(element: Element): readonly Anchor[] {
  let anchors = ANCHORS.get(element);
  if (anchors === undefined) ANCHORS.set(element, (anchors = readAnchors(element)));
  return anchors;
}

function readAnchors(element: Element): Anchor[] {
  const tag = element.tag.name;
  const anchors: Anchor[] = [];
  const { attributes } = element;
  for (let index = 0; index < attributes.length; index += 2) {
    const [name, value] = [attributes[index]!, attributes[index + 1]!];
    if (name === "class") for (const one of classesOf(value)) anchors.push(anchor(tag, name, one));
    else if ((name === "id" && !/\s/.test(value)) || NAMING.test(name)) {
      if (value !== "" && value.length <= MAX_VALUE) anchors.push(anchor(tag, name, value));
    }
  }
  anchors.push({ tag, attr: null, nth: null, cost: TAG_COSTS[tag] ?? TAG_COST });
  return anchors;
}

function anchor(tag: string, name: string, value: string): Anchor {
  const cost = (COSTS[name] ?? ATTRIBUTE_COST) + (looksGenerated(value) ? GENERATED_COST : 0);
  return { tag, attr: { name, value }, nth: null, cost };
}

export function withNth(base: Anchor, element: Element): Anchor {
  return { ...base, nth: nthOfType(element), cost: base.cost + NTH_COST };
}

function classesOf(value: string): string[] {
  return [...new Set(value.split(/\s+/))].filter((one) => one !== "" && one.length <= MAX_VALUE);
}

/** Names that a build tool or a database made: `css-1q2w3e`, `sc-bdVaJa`, `_3xk2L`, `item-829411`. */
function looksGenerated(name: string): boolean {
  if (/\d{4}|^[_-]?\d|^(?:css|sc|jsx|svelte|emotion)-/.test(name)) return true;
  const tail = name.split(/[-_]+/).at(-1)!;
  const isMixed = /[a-z]/.test(tail) && /[A-Z]/.test(tail.slice(1)) && /\d/.test(tail);
  return isMixed || (tail.length >= 5 && /\d/.test(tail) && /[a-z]\d+[a-z]/i.test(tail));
}

const POSITIONS = new WeakMap<Element, number>();

export function nthOfType(element: Element): number {
  const known = POSITIONS.get(element);
  if (known !== undefined) return known;
  const counts = new Map<string, number>();
  for (let node = element.parent?.first ?? null; node !== null; node = node.next) {
    if (node.kind !== 1) continue;
    const nth = (counts.get(node.tag.name) ?? 0) + 1;
    counts.set(node.tag.name, nth);
    POSITIONS.set(node, nth);
  }
  return POSITIONS.get(element) ?? 1;
}

/** The same for all elements that have it, whatever their position. */
export function anchorKey({ tag, attr }: Anchor): string {
  return attr === null ? tag : `${tag}[${attr.name}=${attr.value}]`;
}

export function hasAnchor(element: Element, { tag, attr, nth }: Anchor): boolean {
  if (element.tag.name !== tag) return false;
  if (attr !== null) {
    const { name, value } = attr;
    if (!anchorsOf(element).some((one) => one.attr?.value === value && one.attr.name === name)) return false;
  }
  return nth === null || nthOfType(element) === nth;
}

export function anchorCss({ tag, attr, nth }: Anchor): string {
  const position = nth === null ? "" : `:nth-of-type(${nth})`;
  if (attr === null) return tag + position;
  const isPlain = /^-?[A-Za-z_][\w-]*$/.test(attr.value);
  if (attr.name === "id" && isPlain) return `${tag}#${attr.value}${position}`;
  if (attr.name === "class" && isPlain) return `${tag}.${attr.value}${position}`;
  const operator = attr.name === "class" ? "~=" : "=";
  return `${tag}[${attr.name}${operator}${quoted(attr.value)}]${position}`;
}

function quoted(value: string): string {
  return `"${value.replaceAll(/["\\]/g, "\\$&")}"`;
}

export function anchorXPath({ tag, attr, nth }: Anchor): string {
  const position = nth === null ? "" : `[${nth}]`;
  if (attr === null) return tag + position;
  const test =
    attr.name === "class"
      ? `contains(concat(" ", normalize-space(@class), " "), ${xpathText(` ${attr.value} `)})`
      : `@${attr.name}=${xpathText(attr.value)}`;
  // The position counts siblings of the tag, whatever their attributes.
  return `${tag}${position}[${test}]`;
}

/** XPath 1.0 has no escapes: a text with both kinds of quotation marks is put together. */
export function xpathText(value: string): string {
  if (!value.includes('"')) return `"${value}"`;
  if (!value.includes("'")) return `'${value}'`;
  return `concat(${value
    .split('"')
    .map((part) => `"${part}"`)
    .join(", '\"', ")})`;
}
