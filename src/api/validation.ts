/**
 * Requests are checked against the very schemas that the API documents. Bodies are taken as they are; only what stands
 * in an address is text that has to be turned into numbers first.
 */
import type { ErrorObject, ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { FastifySchemaCompiler } from "fastify";
import type { TSchema } from "typebox";
import { type FieldError, OrbError } from "../base/errors.ts";
import { suggest } from "../domain/suggest.ts";

const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  uuid: (text) => /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text),
  "date-time": (text) =>
    /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/.test(text) && !Number.isNaN(Date.parse(text)),
  uri: (text) => URL.canParse(text),
};

/** A checker with the formats of our schemas; `all` finds every mistake instead of the first. */
export function createChecker(options: { all: boolean; coerce: boolean }): Ajv2020 {
  const ajv = new Ajv2020({
    allErrors: options.all,
    coerceTypes: options.coerce,
    removeAdditional: false,
    useDefaults: true,
    strict: true,
    strictTypes: false,
    verbose: options.all,
    logger: false,
    formats: FORMATS,
  });
  return ajv;
}

/** Larger values are judged by their first mistake alone: a million mistakes would take a gigabyte to tell. */
const MOST_VALUES = 2000;

/** The compiler that the web framework asks for each part of each route. */
export function createValidatorCompiler(): FastifySchemaCompiler<TSchema> {
  const checkers = [false, true].map((coerce) => ({
    first: createChecker({ all: false, coerce }),
    all: createChecker({ all: true, coerce }),
  }));
  return ({ schema, httpPart }) => {
    const isBody = httpPart === "body";
    const checker = checkers[isBody ? 0 : 1];
    if (checker === undefined) throw new TypeError("there are two checkers");
    // Compiled when first needed: a command makes a single call, and the compiling of all routes takes half a second.
    let quick: ValidateFunction | null = null;
    let thorough: ValidateFunction | null = null;
    const where = isBody ? "" : `${PART_NAMES[httpPart ?? ""] ?? httpPart}.`;
    return (value: unknown) => {
      quick ??= checker.first.compile(schema);
      if (quick(value)) return { value };
      let check = quick;
      if (countValues(value, MOST_VALUES) < MOST_VALUES) {
        check = thorough ??= checker.all.compile(schema);
        check(value);
      }
      const fields = fieldErrors(check.errors ?? [], value, where);
      const list = fields.slice(0, 5).map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
      const more = fields.length > list.length ? `; and ${fields.length - list.length} more` : "";
      const what = isBody ? "the body cannot be used" : "the call cannot be used";
      return { error: new OrbError("input_invalid", `${what}: ${list.join("; ")}${more}`, { fields }) };
    };
  };
}

const PART_NAMES: Readonly<Record<string, string>> = { querystring: "query", params: "path", headers: "header" };

/** How many values there are in it, up to a limit. */
function countValues(value: unknown, limit: number): number {
  const stack = [value];
  let count = 0;
  for (let next = stack.pop(); count < limit && (next !== undefined || stack.length > 0); next = stack.pop()) {
    count += 1;
    if (typeof next !== "object" || next === null) continue;
    const inner: unknown[] = Object.values(next);
    if (inner.length > limit) return limit;
    stack.push(...inner);
  }
  return count;
}

export function fieldErrors(errors: readonly ErrorObject[], value: unknown, prefix: string): FieldError[] {
  const seen = new Set<string>();
  return nearestBranches(errors).flatMap((error) => {
    const path = pathOf(error);
    const message = messageOf(error, value);
    const key = `${path} ${message}`;
    if (seen.has(key)) return [];
    seen.add(key);
    return [{ path: path === "" ? prefix.replace(/\.$/, "") : `${prefix}${path}`, message }];
  });
}

/**
 * Where a value may be one of several things, only the mistakes against the one it resembles most help: those of the
 * branch that fits its outer shape best.
 */
function nearestBranches(errors: readonly ErrorObject[]): ErrorObject[] {
  let left = [...errors];
  const unions = left
    .filter(({ keyword }) => keyword === "anyOf")
    .toSorted((a, b) => a.schemaPath.length - b.schemaPath.length);
  for (const union of unions) {
    const branches = Map.groupBy(
      left.filter(
        (error) =>
          error.schemaPath.startsWith(`${union.schemaPath}/`) && error.instancePath.startsWith(union.instancePath),
      ),
      (error) => error.schemaPath.slice(union.schemaPath.length + 1).split("/")[0] ?? "",
    );
    if (branches.size === 0) continue;
    // What is of another type altogether resembles it least.
    const misfit = (branch: readonly ErrorObject[]) =>
      branch
        .filter(({ instancePath }) => instancePath === union.instancePath)
        .reduce((sum, { keyword }) => sum + (keyword === "type" ? 2 : 1), 0);
    const ranked = [...branches.values()].toSorted((a, b) => misfit(a) - misfit(b));
    const best = ranked[0] ?? [];
    const onlyTypes = ranked.every((branch) =>
      branch.every((error) => error.keyword === "type" && error.instancePath === union.instancePath),
    );
    // A value of a wrong type is told all types that would do.
    const types = ranked.flat().map((error) => String((error.params as { type?: unknown }).type));
    const told: ErrorObject[] = onlyTypes
      ? [{ ...union, keyword: "type", params: { type: types.join(" or ") } }]
      : best.filter(({ keyword }) => keyword !== "anyOf" || ranked.length > 1);
    const dropped = new Set<ErrorObject>([union, ...ranked.flat()]);
    left = [...left.filter((error) => !dropped.has(error)), ...told];
  }
  return left;
}

/** `items[0].url` instead of `/items/0/url`. */
function pathOf(error: ErrorObject): string {
  const parts = error.instancePath
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  const { missingProperty, additionalProperty } = error.params as {
    missingProperty?: string;
    additionalProperty?: string;
  };
  if (error.keyword === "required" && missingProperty !== undefined) parts.push(missingProperty);
  if (error.keyword === "additionalProperties" && additionalProperty !== undefined) parts.push(additionalProperty);
  return parts
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : path === "" ? part : `${path}.${part}`), "")
    .slice(0, 300);
}

function messageOf(error: ErrorObject, root: unknown): string {
  const params = error.params as Record<string, unknown>;
  switch (error.keyword) {
    case "required":
      return "is required";
    case "additionalProperties": {
      const known = Object.keys((error.parentSchema as { properties?: object } | undefined)?.properties ?? {});
      const near = suggest(String(params["additionalProperty"]).slice(0, 100), known);
      return `unknown key${near === undefined ? "" : `, did you mean "${near}"?`}`;
    }
    case "type":
      return `expected ${params["type"]}, got ${typeNameOf(valueAt(root, error.instancePath))}`;
    case "enum":
      return `expected one of ${(params["allowedValues"] as unknown[]).join(", ")}`;
    case "const":
      return `expected ${JSON.stringify(params["allowedValue"])}`;
    case "format":
      return `expected ${FORMAT_NAMES[String(params["format"])] ?? params["format"]}`;
    case "minLength":
      return params["limit"] === 1 ? "must not be empty" : `must have at least ${params["limit"]} characters`;
    case "maxLength":
      return `must have at most ${params["limit"]} characters`;
    case "minItems":
      return `must have at least ${params["limit"] === 1 ? "one entry" : `${params["limit"]} entries`}`;
    case "maxItems":
      return `must have at most ${params["limit"]} entries`;
    case "minProperties":
      return "must not be empty";
    case "minimum":
      return `must be at least ${params["limit"]}`;
    case "exclusiveMinimum":
      return `must be more than ${params["limit"]}`;
    case "maximum":
      return `must be at most ${params["limit"]}`;
    default:
      return error.message ?? "cannot be used";
  }
}

const FORMAT_NAMES: Readonly<Record<string, string>> = {
  uuid: "a UUID",
  "date-time": "a time such as 2026-01-31T12:00:00Z",
  uri: "an absolute URL",
};

function valueAt(root: unknown, pointer: string): unknown {
  return pointer
    .split("/")
    .slice(1)
    .reduce<unknown>((value, part) => {
      const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
      return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key] : undefined;
    }, root);
}

function typeNameOf(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
