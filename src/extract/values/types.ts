/** The value types of fields. To add one, add an entry to TYPES. */
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { toMarkdown } from "../article/markdown.ts";
import { isHidden } from "../article/visible.ts";
import type { Element } from "../dom/nodes.ts";
import { squeeze, textOf } from "../dom/text.ts";
import type { PageFacts } from "../facts/page-facts.ts";
import { amountText } from "./amount-text.ts";
import { cleanHtml } from "./clean-html.ts";
import { parseDate } from "./date.ts";
import { parseNumber } from "./number.ts";

/** The match of a selector: an element, or a value: an attribute, a text, or, with `json`, JSON. */
export type Match = { element: Element } | { value: JsonValue; json?: true };

export interface ValueType {
  /** Completes "expected …". */
  expected: string;
  /** Undefined: the match is not of this type. */
  convert(match: Match, facts: PageFacts): JsonValue | undefined;
}

/** `parseNumber` reads no more. */
const MAX_NUMBER_TEXT = 1000;

const TRUE_TEXTS = new Set([
  "true",
  "yes",
  "y",
  "1",
  "on",
  "ja",
  "oui",
  "sí",
  "si",
  "✓",
  "✔",
  "instock",
  "in stock",
  "available",
]);
const FALSE_TEXTS = new Set([
  "false",
  "no",
  "n",
  "0",
  "off",
  "nein",
  "non",
  "✗",
  "✘",
  "outofstock",
  "out of stock",
  "sold out",
  "unavailable",
]);

export function textOfMatch(match: Match): string {
  if ("element" in match) return textOf(match.element);
  const { value } = match;
  if (typeof value === "string") return squeeze(value);
  return value === null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
}

function number(match: Match, facts: PageFacts): number | undefined {
  if ("value" in match && typeof match.value === "number") return match.value;
  return parseNumber(numberText(match), facts.language) ?? undefined;
}

/** Crossed-out numbers count only where there is no other. */
function numberText(match: Match): string {
  const text = "element" in match ? amountText(match.element, MAX_NUMBER_TEXT) : null;
  return text !== null && /\p{N}/u.test(text) ? text : textOfMatch(match);
}

export const TYPES: Readonly<Record<string, ValueType>> = {
  string: {
    expected: "a text",
    convert: (match) => textOfMatch(match),
  },
  number: { expected: "a number", convert: number },
  integer: {
    expected: "a whole number",
    convert: (match, facts) => {
      const value = number(match, facts);
      return value !== undefined && Number.isSafeInteger(value) ? value : undefined;
    },
  },
  boolean: {
    expected: "yes or no",
    convert: (match) => {
      const text = textOfMatch(match)
        .toLowerCase()
        .replace(/^https?:\/\/schema\.org\//, "");
      return TRUE_TEXTS.has(text) ? true : FALSE_TEXTS.has(text) ? false : undefined;
    },
  },
  date: {
    expected: "a date that can be read in one way only",
    convert: (match, facts) => {
      // <time> has the machine-readable date in an attribute.
      const stamp = "element" in match ? match.element.attr("datetime") : undefined;
      return parseDate(stamp ?? textOfMatch(match), facts.language) ?? undefined;
    },
  },
  url: {
    expected: "a web address",
    convert: (match, facts) => {
      const address = "element" in match ? addressOf(match.element) : textOfMatch(match);
      return address === "" ? undefined : (facts.resolve(address) ?? undefined);
    },
  },
  markdown: {
    expected: "an element",
    convert: (match, facts) =>
      "element" in match
        ? toMarkdown(match.element, { resolve: facts.resolve, keep: (element) => !isHidden(element) })
        : textOfMatch(match),
  },
  html: {
    expected: "an element",
    convert: (match, facts) =>
      "element" in match ? cleanHtml(match.element, facts.resolve).trim() : escapeHtml(textOfMatch(match)),
  },
};

export const TYPE_NAMES = Object.keys(TYPES);

/** `{"css": "a", "type": "url"}` means the link, not its text. */
function addressOf(element: Element): string {
  return element.attr("href") ?? element.attr("src") ?? element.attr("content") ?? textOf(element);
}

function escapeHtml(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}
