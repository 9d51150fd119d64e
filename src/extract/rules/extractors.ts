/** The selector languages of rules. To add one, add an entry: the rule's key, and how to compile it. */
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { suggest } from "../../domain/text/suggest.ts";
import type { Element } from "../dom/nodes.ts";
import type { PageFacts } from "../facts/page-facts.ts";
import { compileCss } from "../select/css.ts";
import { compileJsonPath } from "../select/jsonpath.ts";
import { compileXPath } from "../select/xpath.ts";
import type { Match } from "../values/types.ts";

/** The scope of a rule: the page, or one of its items. */
export interface Scope {
  facts: PageFacts;
  element: Element;
  /** Set for JSON items. */
  json?: JsonValue | undefined;
}

export type Select = (scope: Scope, limit: number) => Match[];

interface Extractor {
  /** Additional keys of the rule. */
  options: readonly string[];
  /** Throws an Error with a message for the user. */
  compile(text: string, option: (key: string) => string | undefined): Select;
}

export const EXTRACTORS: Readonly<Record<string, Extractor>> = {
  css: {
    options: ["attr"],
    compile(text, option) {
      const query = compileCss(text);
      const attribute = option("attr")?.toLowerCase();
      return ({ element }, limit) =>
        // The item itself: `{"css": ":scope", "attr": "data-id"}`.
        (text.trim() === ":scope" ? [element] : query.select(element, limit)).flatMap((found) =>
          attributeOrElement(found, attribute),
        );
    },
  },
  xpath: {
    options: ["attr"],
    compile(text, option) {
      const query = compileXPath(text);
      const attribute = option("attr")?.toLowerCase();
      return ({ element }, limit) =>
        query
          .select(element, limit)
          .flatMap((match): Match[] => ("element" in match ? attributeOrElement(match.element, attribute) : [match]));
    },
  },
  jsonpath: {
    options: ["from"],
    compile(text, option) {
      const query = compileJsonPath(text);
      const from = option("from");
      const source = from === undefined ? null : jsonSource(from);
      return (scope, limit) => {
        const scopeJson = scope.json === undefined ? scope.facts.json : scope.json;
        const roots = source === null ? [scopeJson] : source(scope.facts);
        const found: Match[] = [];
        for (const root of roots) {
          if (root === undefined || found.length >= limit) continue;
          for (const value of query.select(root, limit - found.length)) found.push({ value, json: true });
        }
        return found;
      };
    },
  },
};

function attributeOrElement(element: Element, attribute: string | undefined): Match[] {
  if (attribute === undefined) return [{ element }];
  const value = element.attr(attribute);
  return value === undefined ? [] : [{ value }];
}

type JsonSource = (facts: PageFacts) => (JsonValue | undefined)[];

export const JSON_SOURCES: Readonly<Record<string, JsonSource>> = {
  body: (facts) => [facts.json],
  "json-ld": (facts) => facts.jsonLd,
  "next-data": (facts) => [facts.scriptJson("__NEXT_DATA__")],
  "nuxt-data": (facts) => [facts.scriptJson("__NUXT_DATA__")],
};

/** A name of JSON_SOURCES, or `script#id` for the JSON in that script. */
function jsonSource(name: string): JsonSource {
  const found = Object.hasOwn(JSON_SOURCES, name) ? JSON_SOURCES[name] : undefined;
  if (found !== undefined) return found;
  const id = /^script#([\w:.-]{1,100})$/.exec(name)?.[1];
  if (id !== undefined) return (facts) => [facts.scriptJson(id)];
  const near = suggest(name, Object.keys(JSON_SOURCES));
  const known = `${Object.keys(JSON_SOURCES).join(", ")} or script#id`;
  throw new OptionError("from", `expected ${known}${near === undefined ? "" : `, did you mean "${near}"?`}`);
}

/** An error in an additional key of the rule. */
export class OptionError extends Error {
  readonly key: string;

  constructor(key: string, message: string) {
    super(message);
    this.key = key;
  }
}
