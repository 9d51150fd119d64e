/** Conditions on items, for labelling by rules and for exports: an item must meet all of them. */
import { type FieldError, messageOf } from "../base/errors.ts";
import { FetchFailure } from "../domain/run/failure.ts";
import { compileGlob } from "../domain/crawl/glob.ts";
import type { JsonValue } from "../domain/lane/queue-item.ts";
import { compileRegex } from "../domain/text/regex.ts";
import { compilePattern, PATTERN_LIMITS, patternTarget } from "../domain/crawl/url-pattern.ts";
import { bytesOf, mediaTypeOf } from "./items/item-keys.ts";
import { valueAt } from "../domain/text/value-at.ts";
import { foldersOf, urlOf } from "./items/item-values.ts";
import type { Item } from "./step-kind.ts";

export interface Conditions {
  url?: string | readonly string[];
  host?: string | readonly string[];
  folder?: string | readonly string[];
  content_type?: string | readonly string[];
  width?: Range;
  height?: Range;
  bytes?: Range;
  fields?: Readonly<Record<string, FieldCondition>>;
}

interface Range {
  min?: number;
  max?: number;
}

type FieldCondition = string | number | boolean | null | Range | readonly (string | number | boolean)[];

const texts = (description: string): JsonValue => {
  const text = { type: "string", minLength: 1, maxLength: PATTERN_LIMITS.length };
  return { anyOf: [text, { type: "array", items: text, minItems: 1, maxItems: PATTERN_LIMITS.patterns }], description };
};

const RANGE = {
  type: "object",
  properties: { min: { type: "number" }, max: { type: "number" } },
  minProperties: 1,
  additionalProperties: false,
};

export const CONDITION_SCHEMAS: Readonly<Record<string, JsonValue>> = {
  url: texts("URL patterns, like include of a crawl: globs, or regular expressions between slashes."),
  host: texts("The host of the URL: a name, or a glob such as *.example.com."),
  folder: texts("A folder anywhere in the path of the URL: a name or a glob, case-insensitive."),
  content_type: texts("The media type: image/png, or a glob such as image/*."),
  width: RANGE,
  height: RANGE,
  bytes: RANGE,
  fields: {
    type: "object",
    maxProperties: 50,
    additionalProperties: {
      anyOf: [
        { type: ["string", "number", "boolean", "null"] },
        { type: "array", items: { type: ["string", "number", "boolean"] }, minItems: 1, maxItems: 1000 },
        RANGE,
      ],
    },
    description:
      "By path within the item: a value, a list of values, a regular expression between slashes, a range of numbers, or null for a missing value.",
  },
};

type Check = (item: Item) => boolean;

/** `path` names them in errors. Every pattern matches in time linear in the text. */
export function compileConditions(conditions: Conditions, path: string): Check {
  const checks: Check[] = [];
  const { url, host, folder, content_type: type, width, height, bytes, fields = {} } = conditions;
  if (url !== undefined) {
    const patterns = compiled(url, `${path}.url`, compilePattern);
    checks.push((item) => {
      const parsed = urlOf(item);
      if (parsed === null) return false;
      const target = patternTarget(parsed);
      return patterns.some((pattern) => pattern.matches(target));
    });
  }
  if (host !== undefined) checks.push(globs(host, `${path}.host`, (item) => [urlOf(item)?.hostname ?? ""]));
  if (folder !== undefined)
    checks.push(
      globs(folder, `${path}.folder`, (item) => {
        const parsed = urlOf(item);
        return parsed === null ? [] : foldersOf(parsed);
      }),
    );
  if (type !== undefined) checks.push(globs(type, `${path}.content_type`, (item) => [mediaTypeOf(item) ?? ""]));
  if (width !== undefined) checks.push((item) => within(valueAt(item, "image.width"), width));
  if (height !== undefined) checks.push((item) => within(valueAt(item, "image.height"), height));
  if (bytes !== undefined) checks.push((item) => within(bytesOf(item) ?? undefined, bytes));
  for (const [field, wanted] of Object.entries(fields)) {
    const check = fieldCheck(wanted, `${path}.fields.${field}`);
    checks.push((item) => check(valueAt(item, field)));
  }
  return (item) => checks.every((check) => check(item));
}

/** Errors in conditions that `compile` compiles. */
export function faultsOfConditions(compile: () => unknown): FieldError[] {
  try {
    compile();
    return [];
  } catch (error) {
    if (!(error instanceof FetchFailure)) throw error;
    const [path = "", ...rest] = error.message.split(": ");
    return [{ path: `params.${path}`, message: rest.join(": ") }];
  }
}

function compiled<T>(patterns: string | readonly string[], path: string, compile: (text: string) => T): T[] {
  return [patterns].flat().map((text: string) => {
    try {
      return compile(text);
    } catch (error) {
      throw new FetchFailure("step_params", `${path}: ${JSON.stringify(text)} ${messageOf(error)}`);
    }
  });
}

function globs(patterns: string | readonly string[], path: string, read: (item: Item) => readonly string[]): Check {
  const all = compiled(patterns, path, (text) => compileGlob(text.toLowerCase()));
  return (item) => read(item).some((text) => all.some((glob) => glob.matches(text.toLowerCase())));
}

function within(value: JsonValue | undefined, { min = -Infinity, max = Infinity }: Range): boolean {
  return typeof value === "number" && value >= min && value <= max;
}

function fieldCheck(wanted: FieldCondition, path: string): (value: JsonValue | undefined) => boolean {
  if (wanted === null) return (value) => value === undefined || value === null || value === "";
  if (Array.isArray(wanted)) {
    const values = new Set<unknown>(wanted);
    return (value) => values.has(value);
  }
  if (typeof wanted === "object") return (value) => within(value, wanted as Range);
  const expression = typeof wanted === "string" ? /^\/(.+)\/(i?)$/s.exec(wanted) : null;
  if (expression === null) return (value) => value === wanted;
  const source = `${expression[2] === "i" ? "(?i)" : ""}${expression[1]}`;
  const [pattern] = compiled(source, path, compileRegex);
  return (value) => typeof value === "string" && pattern!.test(value);
}
