/**
 * Finds a new rule for a field whose rule broke by a change of the page's layout: what the old pages gave still stands
 * on the new ones. Abstains unless the new rule is clearly right: a wrong value is worse than none.
 */
import { classOfText } from "../../domain/health/value-class.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { isObject } from "../../domain/text/input-reader.ts";
import { squeeze, textOf } from "../dom/text.ts";
import { type PageInput, parsePage } from "../page.ts";
import { compileRule, Problems } from "../rules/compile.ts";
import { evaluate } from "../rules/evaluate.ts";
import type { Scope } from "../rules/extractors.ts";
import { LabelledPage } from "./labelled-page.ts";
import { learnField } from "./learn.ts";

export type RuleInput = Readonly<Record<string, JsonValue>>;

export interface RepairInput {
  field: string;
  /** The rule that broke. */
  rule: JsonValue;
  /** Pages of which both versions are known. */
  pairs: readonly { before: PageInput; now: PageInput }[];
  /** Other pages as they are now. */
  others: readonly PageInput[];
}

export type Repair =
  | {
      kind: "proposal";
      rule: RuleInput;
      /** From 0 to 1. */
      confidence: number;
    }
  | { kind: "abstained"; reason: string };

export interface RepairOrder {
  /** The rule of the records; null: each page is one. */
  items: JsonValue;
  fields: Readonly<Record<string, JsonValue>>;
  /** Names of fields; null: the rule of the records. */
  broken: readonly (string | null)[];
  /** Pages of which both versions are known. */
  pairs: readonly { before: PageInput; now: PageInput }[];
  /** Other pages as they are now. */
  others: readonly PageInput[];
}

export interface RepairedRules {
  /** Of the rule of the records; null: it is not broken. */
  items: Repair | null;
  fields: Record<string, Repair>;
}

const MIN_PAIRS = 2;
/** A page may have changed its content, too; most must not have. */
const MIN_KEPT = 0.6;
const MIN_AGREEMENT = 0.9;
const MIN_ALIKE = 0.9;
const MAX_COVERAGE_LOSS = 0.15;
const MAX_PAIRS = 6;

/** Where a value was known, and what it was. */
interface KnownValues {
  values: readonly string[];
  /** The page, or the item of a list, as it is now. */
  page: Scope;
}

/** `isGated: false` is for measurements: the best rule that reproduces the old values. */
export function repairField({ field, rule, pairs, others }: RepairInput, gate: { isGated?: boolean } = {}): Repair {
  const old = typeof rule === "string" ? { css: rule } : rule;
  if (!isObject(old)) return abstained("the field has no rule of its own");
  const raw = rawRule(old as RuleInput);
  const known = pairs
    .slice(0, MAX_PAIRS)
    .map(({ before, now }) => ({ values: valuesOf(field, raw, scopeOf(before)), page: scopeOf(now) }));
  return repairIn(field, old as RuleInput, known, others.map(scopeOf), gate);
}

export function scopeOf(page: PageInput): Scope {
  const { facts } = parsePage(page);
  return { facts, element: facts.document.root };
}

/** The same in any scopes, such as the items of a list. */
export function repairIn(
  field: string,
  old: RuleInput,
  known: readonly KnownValues[],
  rest: readonly Scope[],
  { isGated = true }: { isGated?: boolean } = {},
): Repair {
  const options = optionsOf(old);
  if (known.every(({ values }) => values.length === 0)) return abstained("no saved page has a value of the field");
  const kept = known.filter(({ values, page }) => values.length > 0 && shows(page, values));
  const filled = known.filter(({ values }) => values.length > 0).length;
  if (kept.length < MIN_PAIRS || kept.length < filled * MIN_KEPT)
    return abstained("too few pages still show their old values");
  const raw = rawRule(old);
  const unchanged = kept.filter(({ values, page }) => isSame(valuesOf(field, raw, page), values)).length;
  if (isGated && unchanged > kept.length / 2)
    return abstained("the rule still finds the old values: the content of other pages changed, not their layout");
  const labelled = kept.map(({ values, page }) => new LabelledPage(page.facts, { [field]: values }, page.element));
  const learned = learnField(field, labelled).map(({ rule: found, cost }) => ({ rule: withList(found, old), cost }));
  const [best] = learned;
  if (best === undefined) return abstained("no rule finds the old values on the new pages");
  if (!isGated) return { kind: "proposal", rule: { ...best.rule, ...options }, confidence: 1 };
  const evidence = { field, kept, labelled, isList: old["all"] === true };
  // A rule learned from some of the pages misses the values of the others: then the other signs must be beyond doubt.
  const least = isCrossValidated(evidence) ? MIN_AGREEMENT : 1;
  const found = learned.map((one) => rest.map((page) => valuesOf(field, one.rule, page)));
  const usual = kept.flatMap(({ values }) => values);
  const expected = { values: usual, coverage: filled / known.length, agreement: least };
  const at = learned.findIndex((_, index) => confidenceIn(index, found, expected) !== null);
  if (at === -1) return abstained("the new rule gives other values than expected on other pages");
  const repaired = { ...learned[at]!.rule, ...options };
  if (compileRule(field, repaired, field, new Problems()) === null)
    return abstained("the options of the old rule do not fit the new one");
  return { kind: "proposal", rule: repaired, confidence: confidenceIn(at, found, expected)! };
}

export const abstained = (reason: string): Repair => ({ kind: "abstained", reason });

const WITH_PATH: readonly string[] = ["css", "xpath", "jsonpath", "regex"];

/** Why the rule of a field cannot be replaced; null: it can. */
export function whyFixed(rule: JsonValue | undefined): string | null {
  if (rule === undefined) return "the field has no rule of its own: it is read by its name";
  if (typeof rule === "string") return null;
  if (!isObject(rule) || !WITH_PATH.some((key) => rule[key] !== undefined))
    return "only rules with css, xpath, jsonpath or regex can be repaired";
  return rule["fields"] === undefined ? null : "a field with fields of its own cannot be repaired";
}

const OPTIONS = ["type", "required", "default"] as const;

/** What the value becomes after it was found: stays as it is. */
function optionsOf(rule: RuleInput): RuleInput {
  return Object.fromEntries(OPTIONS.flatMap((key) => (rule[key] === undefined ? [] : [[key, rule[key]]])));
}

/** The text as the page shows it, which the new page shows as well. */
export function rawRule(rule: RuleInput): RuleInput {
  return Object.fromEntries(Object.entries(rule).filter(([key]) => !OPTIONS.some((option) => option === key)));
}

/** One value of a list on each page is no reason to give up the list. */
const withList = (rule: RuleInput, old: RuleInput): RuleInput => (old["all"] === true ? { ...rule, all: true } : rule);

interface Evidence {
  field: string;
  kept: readonly KnownValues[];
  labelled: readonly LabelledPage[];
  isList: boolean;
}

export function valuesOf(field: string, rule: RuleInput, scope: Scope): string[] {
  const compiled = compileRule(field, rule, field, new Problems());
  if (compiled === null) return [];
  const { value } = evaluate(compiled, scope);
  return (Array.isArray(value) ? value : [value])
    .filter((one) => one !== null && one !== "")
    .map((one) => squeeze(typeof one === "string" ? one : JSON.stringify(one)));
}

/** Whether the page contains all of the values, in its text or in its source; an item in its text. */
function shows({ facts, element }: Scope, values: readonly string[]): boolean {
  const text = textOf(element);
  const source = element === facts.document.root ? facts.document.source : "";
  return values.every((value) => text.includes(value) || source.includes(value));
}

/** Whether rules that were learned from a part of the pages find the values of the others. */
function isCrossValidated({ field, kept, labelled, isList }: Evidence): boolean {
  if (kept.length < MIN_PAIRS + 1) return true;
  return [0, 1].every((fold) => {
    const isLearned = (index: number) => index % 2 === fold || kept.length === MIN_PAIRS + 1;
    const [rule] = learnField(
      field,
      labelled.filter((_, index) => isLearned(index) && index !== kept.length - 1 - fold),
    );
    if (rule === undefined) return false;
    const whole = isList ? { ...rule.rule, all: true } : rule.rule;
    return kept.every(({ values, page }) => isSame(valuesOf(field, whole, page), values));
  });
}

const isSame = (one: readonly string[], other: readonly string[]) =>
  one.length === other.length && one.every((value, index) => value === other[index]);

type Found = readonly (readonly string[])[];

interface Expected {
  /** Of the old pages. */
  values: readonly string[];
  coverage: number;
  agreement: number;
}

/** What the alternative finds on other pages, compared with the others. Null: not clearly right. */
function confidenceIn(index: number, alternatives: readonly Found[], expected: Expected): number | null {
  const found = alternatives[index]!;
  // Nothing else is known about the new pages.
  if (found.length === 0) return expected.agreement === 1 ? null : 0.8;
  const coverage = found.filter((values) => values.length > 0).length / found.length;
  const agreement = agreementOf(found, alternatives);
  const alike = similarity(expected.values, found.flat());
  const isCovered = coverage >= expected.coverage - MAX_COVERAGE_LOSS;
  if (!isCovered || agreement < expected.agreement || alike < MIN_ALIKE) return null;
  return Math.round(100 * Math.min(agreement, alike, coverage / expected.coverage)) / 100;
}

/** How many pages have the value that most of the alternatives find there. */
function agreementOf(found: Found, alternatives: readonly Found[]): number {
  const agrees = found.filter((values, page) => {
    const same = alternatives.filter((other) => isSame(other[page]!, values));
    return same.length * 2 >= alternatives.length;
  });
  return agrees.length / found.length;
}

/** The share of new values that look like the old ones: class and length; and as different from each other. */
export function similarity(before: readonly string[], now: readonly string[]): number {
  if (now.length === 0) return 0;
  const classes = new Set(before.map(classOfText));
  const longest = Math.max(...before.map((value) => value.length));
  const alike = now.filter((value) => classes.has(classOfText(value)) && value.length <= 4 * longest + 20);
  const distinct = (values: readonly string[]) => new Set(values).size / values.length;
  const isUniform = distinct(before) > 0.8 && distinct(now) < 0.2;
  return isUniform ? 0 : alike.length / now.length;
}
