/** Finds the occurrences of a value on a page. */
import type { Element } from "../dom/nodes.ts";
import { squeeze } from "../dom/text.ts";
import { isSilent, type LabelledPage, ownTexts } from "./labelled-page.ts";

/** How the value is taken from its element. */
export type Take =
  | { kind: "text" }
  /** The nth non-blank text node, from 1. */
  | { kind: "textNode"; nth: number }
  | { kind: "attr"; name: string }
  | { kind: "regex"; before: string; after: string };

export interface Occurrence {
  element: Element;
  take: Take;
}

const MAX_OCCURRENCES = 12;
const ATTRIBUTES = ["content", "href", "src", "title", "alt", "datetime", "value", "data-value", "data-price"];
/** Longer texts contain a value by chance. */
const MAX_TEXT = 2000;

/** Elements, text nodes and attributes that equal the value. */
export function findOccurrences(page: LabelledPage, value: string): Occurrence[] {
  const found: Occurrence[] = [];
  for (const element of page.elements) {
    if (isSilent(element)) continue;
    if (page.text(element) === value) found.push({ element, take: { kind: "text" } });
    else {
      const nth = ownTexts(element).findIndex((node) => squeeze(node.data) === value);
      if (nth >= 0) found.push({ element, take: { kind: "textNode", nth: nth + 1 } });
    }
    for (const name of ATTRIBUTES) {
      const text = element.attr(name);
      if (text !== undefined && squeeze(text) === value) found.push({ element, take: { kind: "attr", name } });
    }
    if (found.length >= MAX_OCCURRENCES) return found;
  }
  return found;
}

/** The smallest elements whose text contains the value. */
export function findParts(page: LabelledPage, value: string): Occurrence[] {
  const found: Occurrence[] = [];
  for (const element of page.elements) {
    if (isSilent(element) || element.tag.name === "html" || element.tag.name === "body") continue;
    const text = page.text(element);
    if (text.length > MAX_TEXT || text === value) continue;
    const at = wordAt(text, value);
    if (at < 0 || hasSmaller(page, element, value)) continue;
    const take: Take = { kind: "regex", before: text.slice(0, at), after: text.slice(at + value.length) };
    found.push({ element, take });
    if (found.length >= MAX_OCCURRENCES) break;
  }
  return found;
}

function hasSmaller(page: LabelledPage, element: Element, value: string): boolean {
  for (let node = element.first; node !== null; node = node.next) {
    if (node.kind === 1 && !isSilent(node) && wordAt(page.text(node), value) >= 0) return true;
  }
  return false;
}

/** The position of the value at word boundaries; -1: none. */
function wordAt(text: string, value: string): number {
  for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1)) {
    const [before, after] = [text[at - 1] ?? " ", text[at + value.length] ?? " "];
    const isApart = (edge: string, inner: string) => !(/[\p{L}\p{N}]/u.test(edge) && /[\p{L}\p{N}]/u.test(inner));
    if (isApart(before, value[0]!) && isApart(after, value.at(-1)!)) return at;
  }
  return -1;
}
