/** Learns extraction rules from examples: rules that produce the examples on every page, most robust first. */
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { compileRegex } from "../../domain/text/regex.ts";
import type { Element } from "../dom/nodes.ts";
import { squeeze } from "../dom/text.ts";
import { compileRule, Problems } from "../rules/compile.ts";
import { evaluate } from "../rules/evaluate.ts";
import { labelRules, labelXPath, valuesByLabel } from "./labels.ts";
import { jsonRules } from "./json-rules.ts";
import { type LabelledPage, ownTexts } from "./labelled-page.ts";
import { findOccurrences, findParts, type Occurrence, type Take } from "./occurrences.ts";
import { elementsAt, type Path, pathCss, pathsTo, pathXPath } from "./paths.ts";
import { patternsFor, templateOf } from "./patterns.ts";

export interface LearnedRule {
  /** The rule as in `fields`. */
  rule: Record<string, JsonValue>;
  /** Lower is more robust. */
  cost: number;
}

interface Candidate extends LearnedRule {
  /** Its first values, in document order. */
  values(page: LabelledPage, limit: number): string[];
}

interface Target {
  field: string;
  /** Pages with examples for the field. */
  pages: readonly LabelledPage[];
  isList: boolean;
  /** The examples are an ordered subset of the list. */
  isPart: boolean;
}

const MAX_RULES = 8;
/** More than are shown: a cheap rule may turn out to be ambiguous. */
const MAX_CORRECT = 24;
/** A rule that uses the first of several matches may pick the wrong one on other pages. */
const AMBIGUOUS_COST = 1.5;
/** Per list value without an example: a narrow rule is more reliable than a wide one. */
const EXTRA_VALUE_COST = 0.01;
const WRAPPER_COST = 0.6;
const MAX_VALUES = 1000;

export function learnField(field: string, pages: readonly LabelledPage[]): LearnedRule[] {
  const labelled = pages.filter((page) => page.examples[field] !== undefined);
  const isList = labelled.some((page) => page.examples[field]!.length > 1);
  const target: Target = { field, pages: labelled, isList, isPart: false };
  if (!isList) return learn(target, [wholeCandidates, jsonCandidates, partCandidates]);
  const learned = learn(target, [wholeCandidates, jsonCandidates, shapedTexts, partCandidates]);
  return learned.length > 0 ? learned : learn({ ...target, isPart: true }, [wholeCandidates, jsonCandidates]);
}

type Propose = (target: Target, source: LabelledPage) => Iterable<Candidate>;

function learn(target: Target, proposers: readonly Propose[]): LearnedRule[] {
  // The pages are similar: usually one page yields all rules that work on the others.
  const sources = target.pages.filter((page) => page.examples[target.field]!.length > 0);
  for (const propose of proposers) {
    for (const source of sources) {
      const learned = correctRules(propose(target, source), target);
      if (learned.length > 0) return learned;
    }
  }
  return [];
}

function correctRules(proposed: Iterable<Candidate>, target: Target): LearnedRule[] {
  const candidates = new Map<string, Candidate>();
  for (const candidate of proposed) {
    const key = JSON.stringify(candidate.rule);
    const other = candidates.get(key);
    if (other === undefined || other.cost > candidate.cost) candidates.set(key, candidate);
  }
  const right: LearnedRule[] = [];
  for (const candidate of [...candidates.values()].sort((a, b) => a.cost - b.cost)) {
    const extra = extraCost(candidate, target);
    if (extra === null) continue;
    const rule = target.isList ? { ...candidate.rule, all: true } : candidate.rule;
    if (!reproduces(rule, target)) continue;
    right.push({ rule, cost: candidate.cost + extra });
    if (right.length >= MAX_CORRECT) break;
  }
  return right.sort((a, b) => a.cost - b.cost).slice(0, MAX_RULES);
}

/** The extra cost of matching too much; null: the rule is wrong. */
function extraCost(candidate: Candidate, target: Target): number | null {
  const { field, pages, isList } = target;
  let extra = 0;
  for (const page of pages.toReversed()) {
    const examples = page.examples[field]!;
    const values = candidate.values(page, isList ? MAX_VALUES : 2);
    if (examples.length === 0 ? values.some((value) => value !== "") : !isRight(values, examples, target)) return null;
    if (!isList && values.length > 1) extra = AMBIGUOUS_COST;
    if (target.isPart) extra += (values.length - examples.length) * EXTRA_VALUE_COST;
  }
  return extra;
}

function isRight(
  values: readonly string[],
  examples: readonly string[],
  { isList, isPart }: Pick<Target, "isList" | "isPart">,
): boolean {
  if (!isList) return values[0] === examples[0];
  return isPart ? isSubsequence(examples, values) : isSame(values, examples);
}

/** Same order; duplicates on a page count once. */
function isSame(actual: readonly string[], expected: readonly string[]): boolean {
  const [a, b] = [[...new Set(actual)], [...new Set(expected)]];
  return a.length === b.length && a.every((value, index) => value === b[index]);
}

/** All examples, in order. */
function isSubsequence(examples: readonly string[], values: readonly string[]): boolean {
  let at = -1;
  return examples.every((example) => (at = values.indexOf(example, at + 1)) >= 0);
}

/** Verifies the rule with the production evaluator. */
function reproduces(rule: Record<string, JsonValue>, target: Target): boolean {
  const { field, pages, isList } = target;
  const compiled = compileRule(field, rule, field, new Problems());
  if (compiled === null) return false;
  return pages.every(({ facts, root, examples }) => {
    const { value } = evaluate(compiled, { facts, element: root });
    const right = examples[field]!;
    if (isList) return Array.isArray(value) && isRight(value.map(textOfValue), right, target);
    return right.length === 0 ? value === null : value !== null && textOfValue(value) === right[0];
  });
}

function textOfValue(value: JsonValue): string {
  return squeeze(typeof value === "string" ? value : JSON.stringify(value));
}

/** Values in the JSON of a page: an API response, or embedded data. */
function* jsonCandidates({ field, isList }: Target, page: LabelledPage): Generator<Candidate> {
  if (page.isItem) return;
  for (const value of page.examples[field]!) {
    for (const { rule, cost } of jsonRules(page.facts, value, isList)) {
      const compiled = compileRule(field, { ...rule, all: true }, field, new Problems());
      if (compiled === null) continue;
      yield {
        rule,
        cost,
        values: ({ facts, root }, limit) => {
          const found = evaluate(compiled, { facts, element: root }).value;
          return (Array.isArray(found) ? found : []).slice(0, limit).map(textOfValue);
        },
      };
    }
  }
}

function* wholeCandidates({ field }: Target, page: LabelledPage): Generator<Candidate> {
  for (const value of page.examples[field]!) {
    for (const occurrence of findOccurrences(page, value)) {
      for (const rule of labelRules(page, occurrence)) {
        const xpath = (page.isItem ? "." : "") + labelXPath(rule);
        yield { rule: { xpath }, cost: rule.cost, values: (other) => valuesByLabel(other, rule) };
      }
      for (const path of pathsTo(occurrence.element, page.root)) {
        const found = byPath(path, occurrence.take, page);
        yield isWrapper(page, occurrence) ? { ...found, cost: found.cost + WRAPPER_COST } : found;
      }
    }
  }
}

/** A child element has the same text: on other pages the wrapper may contain more. */
function isWrapper(page: LabelledPage, { element, take }: Occurrence): boolean {
  if (take.kind !== "text") return false;
  for (let node = element.first; node !== null; node = node.next)
    if (node.kind === 1 && page.text(node) === page.text(element)) return true;
  return false;
}

function byPath(path: Path, take: Take, { isItem }: LabelledPage): Candidate {
  switch (take.kind) {
    case "attr":
      return candidate(path, { css: pathCss(path), attr: take.name }, 0.4, (element) => element.attr(take.name));
    case "textNode":
      return candidate(
        path,
        { xpath: `${isItem ? "." : ""}${pathXPath(path)}/text()[normalize-space(.)][${take.nth}]` },
        0.6 + take.nth * 0.4,
        (element) => ownTexts(element)[take.nth - 1]?.data,
      );
    default:
      return candidate(path, { css: pathCss(path) }, 0, (element, page) => page.text(element));
  }
}

function candidate(
  path: Path,
  rule: Record<string, JsonValue>,
  cost: number,
  read: (element: Element, page: LabelledPage) => string | null | undefined,
): Candidate {
  return {
    rule,
    cost: path.cost + cost,
    values(page, limit) {
      const values: string[] = [];
      for (const element of elementsAt(page, path)) {
        const value = read(element, page);
        if (value === undefined || value === null) continue;
        values.push(squeeze(value));
        if (values.length >= limit) break;
      }
      return values;
    },
  };
}

/** Values that are part of a text: an element and a regular expression. */
function* partCandidates({ field, pages }: Target, source: LabelledPage): Generator<Candidate> {
  const partsOf = (page: LabelledPage) => page.examples[field]!.flatMap((value) => inTexts(page, value));
  const others = pages.filter((page) => page !== source).map(partsOf);
  for (const part of partsOf(source)) {
    const group = [part, ...others.flatMap((parts) => parts.filter((other) => shapeOf(other) === shapeOf(part)))];
    for (const { regex, cost } of patternsFor(group)) {
      const pattern = compileRegex(regex);
      for (const path of pathsTo(part.element, source.root)) {
        yield candidate(path, { css: pathCss(path), regex }, cost, (element, page) =>
          pattern.first(page.text(element)),
        );
      }
    }
  }
}

/** Texts of one shape, such as all telephone numbers in an address. */
function* shapedTexts({ field, pages }: Target, source: LabelledPage): Generator<Candidate> {
  const shape = templateOf(pages.flatMap((page) => page.examples[field]!));
  if (shape === null) return;
  const regex = `^\\s*(${shape})\\s*$`;
  const pattern = compileRegex(regex);
  const textMatches = (element: Element) =>
    ownTexts(element).flatMap((node) => pattern.first(squeeze(node.data)) ?? []);
  const tags = new Set<string>();
  for (const value of source.examples[field]!) {
    for (const { element } of findOccurrences(source, value)) tags.add(element.tag.name);
  }
  for (const tag of tags) {
    yield {
      rule: { xpath: `${source.isItem ? "." : ""}//${tag}/text()`, regex },
      cost: 3,
      values: (page) => page.elements.flatMap((element) => (element.tag.name === tag ? textMatches(element) : [])),
    };
  }
}

interface TextPart {
  element: Element;
  before: string;
  value: string;
  after: string;
}

function inTexts(page: LabelledPage, value: string): TextPart[] {
  return [...findParts(page, value), ...findOccurrences(page, value)].flatMap(({ element, take }) => {
    if (take.kind === "regex") return [{ element, value, before: take.before, after: take.after }];
    return take.kind === "text" ? [{ element, value, before: "", after: "" }] : [];
  });
}

/** Groups parts in similar elements. */
function shapeOf({ element }: TextPart): string {
  return `${element.tag.name} ${element.attr("class") ?? ""} ${element.parent?.tag.name ?? ""}`;
}
