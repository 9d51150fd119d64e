/** Evaluates a rule on a page or item, and converts the result to its type. */
import { messageOf } from "../../base/errors.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import type { Pattern } from "../../domain/text/regex.ts";
import { depthOf, MAX_JSON_DEPTH } from "../json.ts";
import { type Match, textOfMatch } from "../values/types.ts";
import type { Rule } from "./compile.ts";
import type { Scope } from "./extractors.ts";

export interface ExtractionProblem {
  /** Record index, from 0. */
  record: number;
  field: string;
  /** `css ".price"`. */
  rule: string;
  message: string;
  /** The value found instead; null: none. */
  found: string | null;
}

export interface Evaluated {
  value: JsonValue;
  /** Why the value is null or the default. */
  problem: { message: string; found: string | null } | null;
}

const MAX_MATCHES = 10_000;
const MAX_FOUND = 200;
const EMPTY = "is empty";

export function evaluate(rule: Rule, scope: Scope): Evaluated {
  try {
    if (rule.known !== null) return evaluateKnown(rule, scope);
    return rule.all ? evaluateAll(rule, scope) : evaluateOne(rule, scope);
  } catch (error) {
    // A rule that exceeds its budget, or a library error, fails this field and not the page.
    return { value: rule.fallback, problem: { message: messageOf(error), found: null } };
  }
}

function evaluateKnown(rule: Rule, scope: Scope): Evaluated {
  const value = rule.known?.read(scope.facts) ?? null;
  if (value === null || (Array.isArray(value) && value.length === 0)) return missing(rule, "the page does not have it");
  if (Array.isArray(value)) return evaluateValues(rule, value, scope);
  return rule.all ? evaluateValues(rule, [value], scope) : evaluateValue(rule, value, scope);
}

/** Unchanged, including line ends, unless the rule has a type or regex. */
function evaluateValue(rule: Rule, value: JsonValue, scope: Scope): Evaluated {
  if (rule.type === null && rule.pattern === null) return { value, problem: null };
  const text = rule.pattern === null ? value : rule.pattern.first(textOfMatch({ value }));
  return text === null ? missing(rule) : convert(rule, [{ value: text }], scope);
}

function evaluateValues(rule: Rule, list: readonly JsonValue[], scope: Scope): Evaluated {
  return collect(
    rule,
    list.map((value) => evaluateValue(rule, value, scope)),
  );
}

/** Drops values that failed; if all failed, returns the first problem. */
function collect(rule: Rule, list: readonly Evaluated[]): Evaluated {
  const valid = list.filter(({ problem }) => problem === null);
  if (valid.length > 0) return { value: valid.map(({ value }) => value), problem: null };
  return { value: rule.fallback, problem: list[0]?.problem ?? missing(rule).problem };
}

function evaluateOne(rule: Rule, scope: Scope): Evaluated {
  if (rule.pattern === null) {
    const matches = rule.select?.(scope, 1) ?? [];
    return matches.length === 0 ? missing(rule) : convert(rule, matches, scope);
  }
  if (rule.select === null) {
    for (const text of wholeTexts(scope)) {
      const found = rule.pattern.first(text);
      if (found !== null) return convert(rule, [{ value: found }], scope);
    }
    return missing(rule);
  }
  const matches = rule.select(scope, MAX_MATCHES);
  for (const match of matches) {
    const found = firstIn(rule.pattern, match);
    if (found !== null) return convert(rule, [found], scope);
  }
  const first = matches[0];
  if (first === undefined) return missing(rule);
  return { value: rule.fallback, problem: { message: "the regex matches nothing in it", found: shown(first) } };
}

function evaluateAll(rule: Rule, scope: Scope): Evaluated {
  let matches: Match[];
  const { pattern } = rule;
  if (pattern === null) matches = rule.select?.(scope, MAX_MATCHES) ?? [];
  else if (rule.select === null) {
    const found = wholeTexts(scope).map((text) => pattern.all(text, MAX_MATCHES));
    matches = (found.find((list) => list.length > 0) ?? []).map((value) => ({ value }));
  } else {
    matches = rule.select(scope, MAX_MATCHES).flatMap((match) => firstIn(pattern, match) ?? []);
  }
  const values: JsonValue[] = [];
  let found = false;
  let problem: Evaluated["problem"] = null;
  for (const match of matches) {
    const converted = convert(rule, [match], scope);
    if (converted.problem === null) {
      found = true;
      values.push(converted.value);
      continue;
    }
    // Parallel lists from JSON must stay aligned: null or invalid values keep their position.
    if (isJson(match)) values.push(rule.type === null && match.value === "" ? "" : null);
    if (problem === null || problem.message === EMPTY) ({ problem } = converted);
  }
  if (!found)
    return { value: isEmptyList(rule.fallback) ? values : rule.fallback, problem: problem ?? missing(rule).problem };
  const isWarning = !rule.required && problem !== null && problem.message !== EMPTY && matches.some(isJson);
  return { value: values, problem: isWarning ? problem : null };
}

function isEmptyList(fallback: JsonValue): boolean {
  return Array.isArray(fallback) && fallback.length === 0;
}

/** The first regex match; JSON strings are searched verbatim. */
function firstIn(pattern: Pattern, match: Match): Match | null {
  const isText = isJson(match) && typeof match.value === "string";
  const found = pattern.first(isText ? (match.value as string) : textOfMatch(match));
  return found === null ? null : { value: found, ...(isText ? { json: true as const } : {}) };
}

function isJson(match: Match): match is { value: JsonValue; json: true } {
  return "json" in match;
}

/** The visible text first; then the source, for values in scripts and attributes. */
function wholeTexts(scope: Scope): string[] {
  const { facts, element } = scope;
  if (scope.json !== undefined) return [JSON.stringify(scope.json)];
  const readable = facts.isJson ? [] : [textOfMatch({ element })];
  return element === facts.document.root ? [...readable, facts.text] : readable;
}

function convert(rule: Rule, [match]: readonly Match[], scope: Scope): Evaluated {
  if (match === undefined) return missing(rule);
  if (rule.type === null) {
    const isValue = isJson(match) || ("value" in match && typeof match.value !== "string");
    const value = isValue ? match.value : textOfMatch(match);
    if (value === "" || value === null)
      return { ...missing(rule, EMPTY), value: rule.fallback ?? (isValue ? value : null) };
    if (depthOf(value) >= MAX_JSON_DEPTH) {
      return { value: rule.fallback, problem: { message: "is nested too deep", found: null } };
    }
    return { value, problem: null };
  }
  // The presence of an empty attribute such as `disabled` or `checked` means true.
  const isThere = "value" in match && match.value === "" && !isJson(match);
  if (isThere && rule.typeName === "boolean") return { value: true, problem: null };
  const value = rule.type.convert(match, scope.facts);
  if (value === "") return missing(rule, EMPTY);
  if (value !== undefined) return { value, problem: null };
  if (shown(match) === "") return missing(rule, EMPTY);
  return { value: rule.fallback, problem: { message: `expected ${rule.type.expected}`, found: shown(match) } };
}

function missing(rule: Rule, message = "nothing matches"): Evaluated {
  return { value: rule.fallback, problem: { message, found: null } };
}

function shown(match: Match): string {
  return textOfMatch(match).slice(0, MAX_FOUND);
}
