/** Superscripts with meaning: `10⁶` is not `106`. */
import type { Element } from "../dom/nodes.ts";
import { textOf } from "../dom/text.ts";
import { textStart } from "./text-start.ts";

/** Ordinals and trade marks read the same on the line; `[1]` is already a footnote mark. */
const ON_THE_LINE = /^(?:st|nd|rd|th|er|re|[eè]me|ère|[aeo]s?|tm|sm|[®™©℠ªº*†‡§]+|[([].*[)\]])$/i;
const MAX_LENGTH = 40;

export function isRaised(element: Element): boolean {
  const text = textStart(element, MAX_LENGTH * 4);
  return text !== "" && text.length <= MAX_LENGTH && !ON_THE_LINE.test(text);
}

/** As plain text after its base: `^6`, `^(n+1)`. */
export function raisedText(element: Element): string {
  const text = textOf(element);
  return /^[+\-−–]?[\p{L}\p{N}.,]+$/u.test(text) ? `^${text}` : `^(${text})`;
}
