/** What a schema checker says of a value, in words for people: each mistake once, with the path of the field. */
import type { ErrorObject } from "ajv";
import type { FieldError } from "../../base/errors.ts";
import { suggest } from "./suggest.ts";

export function fieldErrors(errors: readonly ErrorObject[], value: unknown, prefix: string): FieldError[] {
  const seen = new Set<string>();
  // What follows from a condition, or is wrong with a name, is said by another error with the place of it.
  const relevant = errors.filter(
    ({ keyword, propertyName }) => keyword !== "if" && (propertyName === undefined || keyword === "propertyNames"),
  );
  return nearestBranches(relevant).flatMap((error) => {
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
    .filter(({ keyword }) => keyword === "anyOf" || keyword === "oneOf")
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
    if (sentenceOf(union) !== null) {
      const inside = new Set([...branches.values()].flat());
      const paths = new Set([...inside].map(({ instancePath }) => instancePath));
      // What is wrong by itself fits no branch, either, and says more than the choice does.
      const outside = left.filter((error) => error !== union && !inside.has(error));
      const isFollowing = outside.some(({ instancePath }) => paths.has(instancePath));
      left = isFollowing ? outside : [...outside, union];
      continue;
    }
    const misfit = (branch: readonly ErrorObject[]) =>
      branch
        .filter(({ instancePath }) => instancePath === union.instancePath)
        .reduce((sum, error) => sum + weightOf(error), 0);
    const ranked = [...branches.values()].toSorted((a, b) => misfit(a) - misfit(b));
    const best = ranked[0] ?? [];
    const onlyTypes = ranked.every((branch) =>
      branch.every((error) => error.keyword === "type" && error.instancePath === union.instancePath),
    );
    const onlyRequired = ranked.every((branch) =>
      branch.every((error) => error.keyword === "required" && error.instancePath === union.instancePath),
    );
    // A value of a wrong type is told all types that would do, and one that lacks a name all names that would do.
    const types = ranked.flat().map((error) => String((error.params as { type?: unknown }).type));
    const merged: ErrorObject[] = onlyTypes
      ? [{ ...union, keyword: "type", params: { type: types.join(" or ") } }]
      : onlyRequired && ranked.length > 1
        ? [union]
        : best.filter(({ keyword }) => keyword !== "anyOf" || ranked.length > 1);
    const dropped = new Set<ErrorObject>([union, ...ranked.flat()]);
    left = [...left.filter((error) => !dropped.has(error)), ...merged];
  }
  return left;
}

/** What is of another type altogether resembles it little, and nobody who gave something meant to give nothing. */
function weightOf({ keyword, params }: ErrorObject): number {
  if (keyword !== "type") return 1;
  return (params as { type?: unknown }).type === "null" ? 100 : 2;
}

/** What the schema itself says of its choice, in `errorMessage: { "oneOf": "…" }`; null: nothing. */
function sentenceOf({ keyword, parentSchema }: ErrorObject): string | null {
  const { errorMessage } = (parentSchema ?? {}) as { errorMessage?: unknown };
  if (typeof errorMessage !== "object" || errorMessage === null || !Object.hasOwn(errorMessage, keyword)) return null;
  const sentence = (errorMessage as Record<string, unknown>)[keyword];
  return typeof sentence === "string" ? sentence : null;
}

/** `items[0].url` instead of `/items/0/url`. */
function pathOf(error: ErrorObject): string {
  const parts = error.instancePath
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  const { missingProperty, additionalProperty, propertyName } = error.params as {
    missingProperty?: string;
    additionalProperty?: string;
    propertyName?: string;
  };
  if (error.keyword === "required" && missingProperty !== undefined) parts.push(missingProperty);
  if (error.keyword === "additionalProperties" && additionalProperty !== undefined) parts.push(additionalProperty);
  if (error.keyword === "propertyNames" && propertyName !== undefined) parts.push(propertyName);
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
    case "propertyNames":
      return "is not an allowed name";
    case "anyOf":
    case "oneOf": {
      const sentence = sentenceOf(error);
      if (sentence !== null) return sentence;
      const names = requiredNames(error.schema);
      if (names.length === 0) return error.message ?? "is invalid";
      const { passingSchemas } = params;
      return Array.isArray(passingSchemas)
        ? `only one of ${names.join(", ")} is allowed`
        : `needs ${names.join(" or ")}`;
    }
    case "not": {
      const names = requiredNames([error.schema]);
      return names.length === 0 ? "is invalid" : `only one of ${names.join(", ")} is allowed`;
    }
    case "type":
      return `expected ${[params["type"]].flat().join(" or ")}, got ${typeNameOf(valueAt(root, error.instancePath))}`;
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
      return error.message ?? "is invalid";
  }
}

/** Of branches that do nothing but require names: those. */
function requiredNames(branches: unknown): string[] {
  const names = (branches as { required?: string[] }[]).map((branch) => branch.required ?? null);
  return names.some((list) => list === null) ? [] : names.flatMap((list) => list ?? []);
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
