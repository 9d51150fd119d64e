/** Extraction rules as edited in a list, and as the API takes them. */

export const WAYS = ["css", "xpath", "jsonpath", "regex", "known"] as const;
export type Way = (typeof WAYS)[number];

export const WAY_NAMES: Readonly<Record<Way, string>> = {
  css: "CSS selector",
  xpath: "XPath",
  jsonpath: "JSONPath",
  regex: "Regular expression",
  known: "Well-known field",
};

export const VALUE_TYPES = ["string", "number", "integer", "boolean", "date", "url", "markdown", "html"] as const;

/** The JSON source of a JSONPath; empty: the response itself. */
export const JSON_SOURCES = ["", "json-ld", "next-data", "nuxt-data"] as const;

export interface Rule {
  /** Key of the row, stable while its name is typed. */
  key: number;
  name: string;
  way: Way;
  /** The selector, path, pattern or name. */
  text: string;
  attr: string;
  from: string;
  /** Narrows down the match of another method. */
  pattern: string;
  type: string;
  all: boolean;
  required: boolean;
  /** Keys without a field here, such as `default`. */
  more: Readonly<Record<string, unknown>>;
}

export type Fields = string[] | Record<string, unknown> | null;

export function newRule(key: number, more: Partial<Rule> = {}): Rule {
  return {
    key,
    name: "",
    way: "css",
    text: "",
    attr: "",
    from: "",
    pattern: "",
    type: "",
    all: false,
    required: false,
    more: {},
    ...more,
  };
}

/** An unused key. */
export const nextKey = (rules: readonly Rule[]) => Math.max(0, ...rules.map(({ key }) => key)) + 1;

/** `field`, `field_2` …: an unused name. */
export function freeName(wanted: string, rules: readonly Pick<Rule, "name">[]): string {
  const taken = new Set(rules.map(({ name }) => name));
  for (let n = 1; ; n += 1) {
    const name = n === 1 ? wanted : `${wanted}_${n}`;
    if (!taken.has(name)) return name;
  }
}

function ruleToJson(rule: Rule): Record<string, unknown> {
  const { way, text, attr, from, pattern, type, all, required, more } = rule;
  return {
    [way]: text.trim(),
    ...((way === "css" || way === "xpath") && attr.trim() !== "" ? { attr: attr.trim() } : {}),
    ...(way === "jsonpath" && from !== "" ? { from } : {}),
    ...(way !== "regex" && pattern !== "" ? { regex: pattern } : {}),
    ...(type === "" ? {} : { type }),
    ...(all ? { all: true } : {}),
    ...(required ? { required: true } : {}),
    ...more,
  };
}

const isPlainKnown = (rule: Rule) => {
  const json = ruleToJson(rule);
  return Object.keys(json).length === 1 && json["known"] === rule.name;
};

/** As the API takes them; null: no rules, the default extraction. */
export function rulesToFields(rules: readonly Rule[]): Fields {
  if (rules.length === 0) return null;
  if (rules.every(isPlainKnown)) return rules.map(({ name }) => name);
  return Object.fromEntries(rules.map((rule) => [rule.name, ruleToJson(rule)]));
}

const textOf = (value: unknown) => (typeof value === "string" ? value : "");

function ruleOf(key: number, name: string, value: unknown): Rule {
  const rule = (typeof value === "string" ? { css: value } : (value ?? {})) as Record<string, unknown>;
  const way = WAYS.find((one) => one !== "regex" && rule[one] !== undefined) ?? "regex";
  const { [way]: text, attr, from, regex, type, all, required, ...more } = rule;
  return newRule(key, {
    name,
    way,
    text: textOf(text),
    attr: textOf(attr),
    from: textOf(from),
    pattern: way === "regex" ? "" : textOf(regex),
    type: textOf(type),
    all: all === true,
    required: required === true,
    more,
  });
}

export function rulesFromFields(fields: unknown): Rule[] {
  if (Array.isArray(fields))
    return fields.map((name, n) => newRule(n + 1, { name: String(name), way: "known", text: String(name) }));
  if (typeof fields !== "object" || fields === null) return [];
  return Object.entries(fields).map(([name, value], n) => ruleOf(n + 1, name, value));
}

/** Where a page's records are; without text, the page is one record. */
export interface Items {
  way: "css" | "xpath" | "jsonpath";
  text: string;
  from: string;
}

export const NO_ITEMS: Items = { way: "css", text: "", from: "" };

export function itemsToJson({ way, text, from }: Items): Record<string, unknown> | null {
  if (text.trim() === "") return null;
  return { [way]: text.trim(), ...(way === "jsonpath" && from !== "" ? { from } : {}) };
}

export function itemsFromJson(value: unknown): Items {
  if (typeof value === "string") return { ...NO_ITEMS, text: value };
  const rule = (value ?? {}) as Record<string, unknown>;
  const way = (["css", "xpath", "jsonpath"] as const).find((one) => typeof rule[one] === "string");
  return way === undefined ? NO_ITEMS : { way, text: textOf(rule[way]), from: textOf(rule["from"]) };
}

/** A field name suggested by an element's text, class or attributes. */
export function nameFrom(words: readonly (string | undefined)[]): string {
  for (const word of words) {
    const name = (word ?? "")
      .replace(/([a-z])([A-Z])/g, "$1_$2")
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "_")
      .replace(/^[_\d]+|_+$/g, "");
    if (name !== "" && name.length <= 24) return name;
  }
  return "field";
}

/** Missing and duplicate names: the API would not see either. */
export function ruleProblems(rules: readonly Rule[]): Map<number, string> {
  const problems = new Map<number, string>();
  const seen = new Set<string>();
  for (const { key, name, text } of rules) {
    if (name.trim() === "") problems.set(key, "Give this field a name.");
    else if (seen.has(name)) problems.set(key, "Another field has this name.");
    else if (text.trim() === "") problems.set(key, "Enter a selector, or click the value on the page.");
    seen.add(name);
  }
  return problems;
}
