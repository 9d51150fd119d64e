/**
 * Params against their schema: those of a step against its kind's, before their expressions are resolved and after, and
 * those of a whole workflow when it starts.
 */
import type { ErrorObject } from "ajv";
import { type FieldError, messageOf } from "../../base/errors.ts";
import { compileJsonSchema, type SchemaCheck } from "../text/json-schema.ts";
import type { JsonValue, Parsed } from "../lane/queue-item.ts";
import { fieldErrors } from "../text/schema-faults.ts";
import { hasSealed } from "../text/sealed-text.ts";

type Params = Readonly<Record<string, JsonValue>>;

const MOST_FAULTS = 50;
/** Comparing choices with each other takes the square of their number. */
const MOST_ERRORS = 2000;

/** Compiling takes milliseconds, and the schemas of kinds stay the same. */
const compiled = new WeakMap<object, SchemaCheck>();

function checkOf(schema: JsonValue): SchemaCheck {
  if (typeof schema !== "object" || schema === null) return compileJsonSchema(schema, { defaults: true });
  const known = compiled.get(schema);
  if (known !== undefined) return known;
  const check = compileJsonSchema(schema, { defaults: true });
  compiled.set(schema, check);
  return check;
}

/** Params as the schema wants them, defaults filled in; or every mistake, with its path below `params`. */
export function completeParams(schema: JsonValue, params: Params): Parsed<Record<string, JsonValue>> {
  const whole = structuredClone(params) as Record<string, JsonValue>;
  const errors = faultsOf(schema, whole, () => false);
  return errors.length > 0 ? { errors } : { ok: whole };
}

/** As they are written, with expressions in them, and with secrets that are sealed: each stands for any value. */
export function checkWrittenParams(schema: JsonValue, params: Params): FieldError[] {
  const stands = (value: unknown) => hasSealed(value) || (typeof value === "string" && value.includes("${{"));
  return faultsOf(schema, structuredClone(params), stands);
}

function faultsOf(schema: JsonValue, params: Params, stands: (value: unknown) => boolean): FieldError[] {
  let errors: readonly ErrorObject[];
  try {
    errors = checkOf(schema)(params).slice(0, MOST_ERRORS);
  } catch (error) {
    return [{ path: "params", message: `cannot be checked: ${messageOf(error)}` }];
  }
  if (errors.length === 0) return [];
  const open = unresolvedPaths(params, stands);
  const left = open.length === 0 ? errors : withoutOpen(errors, open);
  return fieldErrors(left, params, "params.").slice(0, MOST_FAULTS);
}

/** The places of the values that are not known yet, as `/urls/0`. */
function unresolvedPaths(value: unknown, stands: (value: unknown) => boolean, path = ""): string[] {
  if (stands(value)) return [path];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    unresolvedPaths(inner, stands, `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`),
  );
}

/** What these say depends on all that is below, so an open value below leaves the answer open. */
const WHOLE = new Set(["not", "if", "const", "enum", "contains", "uniqueItems", "dependentSchemas"]);

/** Mistakes that stay mistakes whatever the open values will be. */
function withoutOpen(errors: readonly ErrorObject[], open: readonly string[]): ErrorObject[] {
  const paths = new Set(open);
  const above = new Set(open.flatMap((one) => prefixesOf(one).slice(0, -1)));
  const isOpen = (path: string) => prefixesOf(path).some((prefix) => paths.has(prefix));
  const hasOpen = (path: string) => above.has(path);
  // Which of two ways a condition takes is open, too, and so is what either wants.
  const ways = errors
    .filter(({ keyword, instancePath }) => keyword === "if" && hasOpen(instancePath))
    .flatMap(({ schemaPath }) => ["then", "else"].map((way) => schemaPath.replace(/if$/, `${way}/`)));
  let left = errors.filter(
    ({ instancePath, keyword, schemaPath }) =>
      !isOpen(instancePath) &&
      !(WHOLE.has(keyword) && hasOpen(instancePath)) &&
      !ways.some((way) => schemaPath.startsWith(way)),
  );
  // From the innermost choice outwards: one of whose branches nothing is left has a branch that may fit.
  const choices = errors
    .filter(({ keyword, instancePath }) => (keyword === "anyOf" || keyword === "oneOf") && !isOpen(instancePath))
    .toSorted((a, b) => b.schemaPath.length - a.schemaPath.length);
  for (const choice of choices) {
    if (!hasOpen(choice.instancePath)) continue;
    const isBelow = ({ instancePath }: ErrorObject) => `${instancePath}/`.startsWith(`${choice.instancePath}/`);
    const isBranch = ({ schemaPath }: ErrorObject) => schemaPath.startsWith(`${choice.schemaPath}/`);
    const branchOf = ({ schemaPath }: ErrorObject) => schemaPath.slice(choice.schemaPath.length + 1).split("/")[0];
    const failed = left.filter((error) => isBelow(error) && isBranch(error));
    if (new Set(failed.map(branchOf)).size === (choice.schema as unknown[]).length) continue;
    // What stands behind a reference cannot be told apart: then it is left until the values are known.
    left = left.filter(
      (error) => error !== choice && !(isBelow(error) && (isBranch(error) || error.schemaPath.startsWith("#/$defs/"))),
    );
  }
  return left;
}

/** `/a/b` is in ``, `/a` and `/a/b`. */
function prefixesOf(path: string): string[] {
  const parts = path.split("/");
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}
