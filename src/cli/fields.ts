/** Parses `--field` rules: `price:number=.price`, `link=a@href`, `tags[]=xpath://a[@rel='tag']`. */
import { InvalidArgumentError } from "commander";

export type FieldRule = Record<string, string | boolean>;

/** Prefixes that select the kind of rule; everything else is CSS, where a colon never follows one of these words. */
const KINDS: Readonly<Record<string, (text: string) => FieldRule>> = {
  css: cssRule,
  xpath: (text) => ({ xpath: text }),
  jsonpath: (text) => ({ jsonpath: text }),
  "json-ld": (text) => ({ jsonpath: text, from: "json-ld" }),
  "next-data": (text) => ({ jsonpath: text, from: "next-data" }),
  "nuxt-data": (text) => ({ jsonpath: text, from: "nuxt-data" }),
  regex: (text) => ({ regex: text }),
  known: (text) => ({ known: text }),
};

export const FIELD_HELP = `
A field is NAME=CSS, with these variants:
  title=h1              the text of the first match
  link=a.next@href      an attribute instead of the text
  price:number=.price   read as string, number, integer, boolean, date, url,
                        markdown or html
  tags[]=.tag           all matches as a list
  id=regex:item-(\\d+)   another kind of rule: xpath:, jsonpath: (JSON pages),
                        json-ld:, next-data:, nuxt-data:, regex:, known:
docs/extraction.md lists all rules, for --rules.`;

const FIELD = /^([^=:[\]\s][^=:[\]]*?)(\[\])?(?::([a-z]+))?(\[\])?=([\s\S]+)$/;

/** One `--field`; commander calls it once per option. */
export function addField(text: string, before: Record<string, FieldRule> = {}): Record<string, FieldRule> {
  const [, name, listBefore, type, listBehind, rule] = FIELD.exec(text) ?? [];
  if (name === undefined || rule === undefined || name === "__proto__")
    throw new InvalidArgumentError("expected NAME=CSS, such as title=h1 or price:number=.price; see --help.");
  if (Object.hasOwn(before, name)) throw new InvalidArgumentError(`the field ${name} is set twice.`);
  const all = listBefore !== undefined || listBehind !== undefined;
  const read = { ...selector(rule.trim()), ...(type === undefined ? {} : { type }), ...(all ? { all } : {}) };
  return { ...before, [name]: read };
}

/** Where the items are: CSS, or a rule with a prefix as for fields. */
export function itemsRule(text: string): FieldRule {
  return selector(text.trim());
}

function selector(text: string): FieldRule {
  const [, kind = "", rest = ""] = /^([a-z-]+):([\s\S]+)$/.exec(text) ?? [];
  return Object.hasOwn(KINDS, kind) ? (KINDS[kind]?.(rest.trim()) ?? {}) : cssRule(text);
}

function cssRule(text: string): FieldRule {
  // The attribute follows the selector; inside a selector an @ is in quotes or brackets.
  const [, css = "", attr] = /^([\s\S]*?)@([A-Za-z_][\w:.-]*)$/.exec(text) ?? [];
  if (attr === undefined) return { css: text };
  return { css: css.trim() === "" ? ":scope" : css.trim(), attr };
}

/** `--fields title,price`: well-known names. */
export function knownNames(text: string): string[] {
  const names = text.split(",").flatMap((name) => name.trim() || []);
  if (names.length === 0) throw new InvalidArgumentError("expected names, such as title,price.");
  return names;
}

/** A rule in the syntax of `--field`; what that cannot express follows as JSON. */
export function describeField(name: string, rule: unknown): string {
  if (typeof rule !== "object" || rule === null) return `${name}=${String(rule)}`;
  const { type, all, ...rest } = rule as Record<string, unknown>;
  return `${name}${all === true ? "[]" : ""}${type === undefined ? "" : `:${String(type)}`}=${describeRule(rest)}`;
}

export function describeRule(rule: Record<string, unknown>): string {
  const { css, attr, xpath, jsonpath, from, known, regex, ...rest } = rule;
  const at = attr === undefined ? "" : `@${String(attr)}`;
  const words = [
    css === undefined ? "" : `${String(css)}${at}`,
    xpath === undefined ? "" : `xpath:${String(xpath)}${at}`,
    jsonpath === undefined ? "" : `${from === undefined ? "jsonpath" : String(from)}:${String(jsonpath)}`,
    known === undefined ? "" : `known:${String(known)}`,
    regex === undefined ? "" : `regex:${String(regex)}`,
    Object.keys(rest).length === 0 ? "" : JSON.stringify(rest),
  ];
  return words.filter((word) => word !== "").join(" ");
}
