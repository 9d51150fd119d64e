/** Compiles users' rules. Finds all errors before a page is fetched, with their paths. */
import { type FieldError, messageOf } from "../../base/errors.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { without } from "../../base/without.ts";
import { isObject } from "../../domain/text/input-reader.ts";
import { compileRegex, type Pattern } from "../../domain/text/regex.ts";
import { suggest } from "../../domain/text/suggest.ts";
import { depthOf } from "../json.ts";
import type { KnownField } from "../known/source.ts";
import { KNOWN_NAMES, knownField } from "../known/registry.ts";
import { TYPE_NAMES, TYPES, type ValueType } from "../values/types.ts";
import { EXTRACTORS, OptionError, type Select } from "./extractors.ts";

export interface Rule {
  field: string;
  /** For messages: `css ".price"`. */
  shown: string;
  known: KnownField | null;
  select: Select | null;
  pattern: Pattern | null;
  type: ValueType | null;
  typeName: string | null;
  all: boolean;
  required: boolean;
  fallback: JsonValue;
}

const COMMON = ["regex", "type", "all", "required", "default"];
const SELECTORS = [...Object.keys(EXTRACTORS), "known"];

export class Problems {
  readonly list: FieldError[] = [];

  add(path: string, message: string): void {
    this.list.push({ path, message });
  }
}

export function compileRule(field: string, value: unknown, path: string, problems: Problems): Rule | null {
  const problemCount = problems.list.length;
  // The short form: a CSS selector and nothing else.
  const input = typeof value === "string" ? { css: value } : value;
  if (!isObject(input)) {
    problems.add(path, 'expected a CSS selector or a rule like {"css": ".price", "type": "number"}');
    return null;
  }
  const selectors = SELECTORS.filter((selector) => input[selector] !== undefined);
  const selector = selectors[0];
  if (selectors.length > 1) problems.add(path, `has both ${selectors.join(" and ")}: use only one of them`);
  if (selector === undefined && input["regex"] === undefined) {
    problems.add(path, `needs one of ${[...SELECTORS, "regex"].join(", ")}`);
  }
  checkKeys(
    input,
    [...(selector === undefined ? [] : [selector]), ...selectors, ...optionsOf(selector), ...COMMON],
    path,
    problems,
  );
  const flag = (key: string) => readFlag(input, key, path, problems);
  const rule: Rule = {
    field,
    shown: shownRule(input, selector),
    known: selector === "known" ? readKnown(input["known"], `${path}.known`, problems) : null,
    select: selector === undefined || selector === "known" ? null : readSelect(selector, input, path, problems),
    pattern: readPattern(input["regex"], `${path}.regex`, problems),
    type: null,
    typeName: null,
    all: flag("all"),
    required: flag("required"),
    fallback: readDefault(input, path, problems),
  };
  // The default of a list rule is an empty list.
  if (input["default"] === undefined && (rule.all || rule.known?.list === true)) rule.fallback = [];
  readType(input["type"], rule, `${path}.type`, problems);
  if (rule.required && input["default"] !== undefined) {
    problems.add(
      `${path}.default`,
      "required and default cannot be combined: with a default, the field is never missing",
    );
  }
  return problems.list.length === problemCount ? rule : null;
}

/** Compiles `items`, the selector of the records. */
export function compileItems(value: unknown, path: string, problems: Problems): Select | null {
  const input = typeof value === "string" ? { css: value } : value;
  if (!isObject(input)) {
    problems.add(path, 'expected a CSS selector or an object like {"css": "article.product"}');
    return null;
  }
  const selectors = Object.keys(EXTRACTORS).filter((selector) => input[selector] !== undefined);
  const selector = selectors[0];
  if (selector === undefined || selectors.length > 1) {
    problems.add(path, `needs one of ${Object.keys(EXTRACTORS).join(", ")}`);
    return null;
  }
  const known = [selector, ...optionsOf(selector).filter((key) => key !== "attr")];
  if (input["fields"] !== undefined)
    problems.add(`${path}.fields`, "fields stand beside items, not in it: move them one level up");
  checkKeys("fields" in input ? without(input, "fields") : input, known, path, problems);
  return readSelect(selector, input, path, problems);
}

export function readKnown(value: unknown, path: string, problems: Problems): KnownField | null {
  const field = typeof value === "string" ? knownField(value) : undefined;
  if (field !== undefined) return field;
  const near = typeof value === "string" ? suggest(value, KNOWN_NAMES) : undefined;
  const hint = near === undefined ? `; known are ${KNOWN_NAMES.join(", ")}` : `, did you mean "${near}"?`;
  problems.add(path, typeof value === "string" ? `unknown field "${value}"${hint}` : "expected the name of a field");
  return null;
}

function optionsOf(selector: string | undefined): readonly string[] {
  return (selector === undefined ? undefined : EXTRACTORS[selector]?.options) ?? [];
}

function checkKeys(input: Record<string, unknown>, allowed: readonly string[], path: string, problems: Problems): void {
  const options = Object.values(EXTRACTORS).flatMap((extractor) => extractor.options);
  const everywhere = new Set([...SELECTORS, ...COMMON, ...options]);
  for (const key of Object.keys(input)) {
    if (allowed.includes(key)) continue;
    if (everywhere.has(key)) problems.add(`${path}.${key}`, `cannot be combined with ${allowed[0] ?? "this rule"}`);
    else {
      const near = suggest(key, allowed);
      problems.add(`${path}.${key}`, `unknown key${near === undefined ? "" : `, did you mean "${near}"?`}`);
    }
  }
}

function readSelect(selector: string, input: Record<string, unknown>, path: string, problems: Problems): Select | null {
  const extractor = EXTRACTORS[selector];
  const text = input[selector];
  if (extractor === undefined) return null;
  if (typeof text !== "string") {
    problems.add(`${path}.${selector}`, "expected a string");
    return null;
  }
  for (const key of extractor.options) {
    if (input[key] !== undefined && (typeof input[key] !== "string" || input[key] === "")) {
      problems.add(`${path}.${key}`, "expected a string");
      return null;
    }
  }
  try {
    return extractor.compile(text, (key) => input[key] as string | undefined);
  } catch (error) {
    problems.add(`${path}.${error instanceof OptionError ? error.key : selector}`, messageOf(error));
    return null;
  }
}

function readPattern(value: unknown, path: string, problems: Problems): Pattern | null {
  if (value === undefined) return null;
  try {
    if (typeof value !== "string") throw new Error("expected a string");
    return compileRegex(value);
  } catch (error) {
    problems.add(path, messageOf(error));
    return null;
  }
}

function readType(value: unknown, rule: Rule, path: string, problems: Problems): void {
  if (value === undefined) return;
  if (typeof value === "string" && Object.hasOwn(TYPES, value)) {
    rule.type = TYPES[value] ?? null;
    rule.typeName = value;
    return;
  }
  const near = typeof value === "string" ? suggest(value, TYPE_NAMES) : undefined;
  problems.add(
    path,
    `expected one of ${TYPE_NAMES.join(", ")}${near === undefined ? "" : `, did you mean "${near}"?`}`,
  );
}

function readFlag(input: Record<string, unknown>, key: string, path: string, problems: Problems): boolean {
  const value = input[key];
  if (value === undefined) return false;
  if (typeof value === "boolean") return value;
  problems.add(`${path}.${key}`, "expected true or false");
  return false;
}

function readDefault(input: Record<string, unknown>, path: string, problems: Problems): JsonValue {
  const value = input["default"] as JsonValue | undefined;
  if (value === undefined) return null;
  if (depthOf(value, 20) < 20) return value;
  problems.add(`${path}.default`, "is nested too deep");
  return null;
}

function shownRule(input: Record<string, unknown>, selector: string | undefined): string {
  const key = selector ?? "regex";
  return `${key} ${JSON.stringify(input[key])}`.slice(0, 200);
}
