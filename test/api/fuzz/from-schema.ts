/** Values that a JSON Schema allows, and values that it nearly allows. */
import fc from "../../support/properties.ts";
import { ADDRESSES, NAUGHTY_NUMBERS, NAUGHTY_TEXTS, SITES } from "./naughty.ts";

export interface Schema {
  $ref?: string;
  type?: string | string[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  const?: unknown;
  enum?: unknown[];
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  minItems?: number;
  maxItems?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  default?: unknown;
  examples?: unknown[];
}

/** Most arrays and objects are small: what is large is tried on purpose, elsewhere. */
const FEW = 4;

/** Fields that want an address. */
const ADDRESS = /url|origin/i;

/** A value that the schema allows. `name` is the field's: an address in a field for addresses gets further. */
export function allowed(schema: Schema, name = ""): fc.Arbitrary<unknown> {
  const plain = allowedByShape(schema, name);
  const given = [...(schema.examples ?? []), ...(schema.default === undefined ? [] : [schema.default])];
  return given.length === 0 ? plain : fc.oneof(plain, fc.constantFrom(...given));
}

function allowedByShape(schema: Schema, name: string): fc.Arbitrary<unknown> {
  if ("const" in schema) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return fc.oneof(...choices.map((choice) => allowed(choice, name)));
  if (schema.allOf !== undefined)
    return allowed(Object.assign({}, schema, ...schema.allOf, { allOf: undefined }), name);
  const types = [schema.type ?? (schema.properties === undefined ? "any" : "object")].flat();
  return fc.oneof(...types.map((type) => ofType(type, schema, name)));
}

function ofType(type: string, schema: Schema, name: string): fc.Arbitrary<unknown> {
  switch (type) {
    case "string":
      return textFor(schema, name);
    case "integer":
      return fc.integer({ min: Math.ceil(lowest(schema)), max: Math.floor(highest(schema)) });
    case "number":
      return fc.double({ min: lowest(schema), max: highest(schema), noNaN: true });
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "array":
      return fc.array(allowed(schema.items ?? {}, name), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.max(schema.minItems ?? 0, Math.min(schema.maxItems ?? FEW, FEW)),
      });
    case "object":
      return objectFor(schema);
    default:
      return fc.jsonValue({ maxDepth: 3 });
  }
}

const lowest = (schema: Schema) => schema.minimum ?? (schema.exclusiveMinimum ?? -1_000_001) + 1;
const highest = (schema: Schema) =>
  Math.max(lowest(schema), schema.maximum ?? (schema.exclusiveMaximum ?? 1_000_001) - 1);

function textFor(schema: Schema, name: string): fc.Arbitrary<string> {
  const { minLength = 0, maxLength = 40 } = schema;
  if (schema.format === "uuid") return fc.uuid();
  if (schema.format === "date-time")
    return fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true }).map((date) => date.toISOString());
  if (schema.format === "uri" || ADDRESS.test(name)) return fc.constantFrom(...ADDRESSES);
  if (/^(site|host)/i.test(name)) return fc.constantFrom(...SITES);
  if (schema.pattern !== undefined)
    return fc
      .stringMatching(new RegExp(schema.pattern, "u"))
      .map((text) => text.slice(0, maxLength))
      .filter((text) => text.length >= minLength);
  return fc
    .string({ minLength, maxLength: Math.max(minLength, Math.min(maxLength, 40)), unit: "grapheme" })
    .map((text) => text.slice(0, maxLength));
}

function objectFor(schema: Schema): fc.Arbitrary<object> {
  const fields = Object.entries(schema.properties ?? {}).map(([name, inner]) => [name, allowed(inner, name)] as const);
  if (fields.length === 0) return fc.constant({});
  const required = schema.required ?? [];
  const bare = fc.record(Object.fromEntries(fields.filter(([name]) => required.includes(name) || ADDRESS.test(name))));
  const full = fc.record(Object.fromEntries(fields), { requiredKeys: required });
  // Rules that no schema tells stand between optional fields: with an address and little else a call gets further.
  return fc.oneof({ weight: 1, arbitrary: bare }, { weight: 2, arbitrary: full });
}

/** Something to put where something else belongs. */
export const naughtyValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(...NAUGHTY_TEXTS),
  fc.constantFrom<unknown>(...NAUGHTY_NUMBERS),
  fc.constantFrom<unknown>(null, true, false, [], {}, [[]], { a: { b: [] } }, "x".repeat(70_000)),
  fc.integer({ min: 1, max: 90 }).map((depth) => nested(depth)),
  fc.jsonValue({ maxDepth: 3 }),
);

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { deep: value };
  return value;
}

/** One change of a value: where (as a number among its places), what, and with what. */
type Change = [place: number, kind: "replace" | "remove" | "add" | "repeat" | "rename", value: unknown, name: string];

const change: fc.Arbitrary<Change> = fc.tuple(
  fc.nat(),
  fc.constantFrom(
    "replace" as const,
    "replace" as const,
    "remove" as const,
    "add" as const,
    "repeat" as const,
    "rename" as const,
  ),
  naughtyValue,
  fc.constantFrom(
    "extra",
    "id",
    "status",
    "constructor",
    "toString",
    "",
    "\u0000",
    "Artifact_Id",
    "x".repeat(1000),
    "a.b[0]",
  ),
);

/** A value that the schema allows, with one or two changes that it mostly does not. */
export function nearlyAllowed(schema: Schema): fc.Arbitrary<unknown> {
  return fc
    .tuple(allowed(schema), fc.array(change, { minLength: 1, maxLength: 2 }))
    .map(([value, changes]) => changes.reduce<unknown>(applyChange, value));
}

function applyChange(root: unknown, [place, kind, value, name]: Change): unknown {
  const copy = structuredClone(root);
  const places = placesIn(copy);
  const chosen = places[place % (places.length + 1)];
  // The place behind the last one is the value as a whole.
  if (chosen === undefined) return kind === "remove" || kind === "rename" ? copy : value;
  const { holder, key } = chosen;
  if (kind === "replace") holder[key] = value;
  else if (kind === "add") holder[Array.isArray(holder) ? holder.length : name] = value;
  else if (kind === "repeat") holder[key] = Array.from({ length: 300 }, () => holder[key]);
  else {
    if (kind === "rename" && !Array.isArray(holder)) holder[name] = holder[key];
    delete holder[key];
  }
  return copy;
}

interface Spot {
  holder: Record<string | number, unknown>;
  key: string | number;
}

function placesIn(root: unknown): Spot[] {
  if (typeof root !== "object" || root === null) return [];
  const holder = root as Record<string | number, unknown>;
  return Object.keys(holder).flatMap((key) => [{ holder, key }, ...placesIn(holder[key])]);
}
