/**
 * Builds schemas with the API and types of TypeBox, without loading it: its 370 files would add 200 ms to every start
 * of a command.
 */
import type { TSchema, Type as TypeBox } from "typebox";

type Schema = Record<string, unknown>;

/** TypeBox's own marker of optional properties: not part of the schema. */
const OPTIONAL = "~optional";

const plain =
  (type: string) =>
  (options: object = {}) => ({ type, ...options });

function object(properties: Record<string, Schema>, options: object = {}): Schema {
  const required = Object.keys(properties).filter((name) => !(OPTIONAL in (properties[name] as Schema)));
  return { type: "object", ...(required.length > 0 ? { required } : {}), properties, ...options };
}

function optional(schema: Schema): Schema {
  return Object.defineProperty({ ...schema }, OPTIONAL, { value: true });
}

const words = {
  Array: (items: Schema, options: object = {}) => ({ type: "array", items, ...options }),
  Boolean: plain("boolean"),
  Integer: plain("integer"),
  Literal: (value: string | number | boolean, options: object = {}) => ({
    type: typeof value,
    const: value,
    ...options,
  }),
  Null: plain("null"),
  Number: plain("number"),
  Object: object,
  Optional: optional,
  Partial: ({ properties }: { properties: Record<string, Schema> }, options: object = {}) =>
    object(Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, optional(schema)])), options),
  Record: (_names: Schema, values: Schema, options: object = {}) => ({
    type: "object",
    patternProperties: { "^.*$": values },
    ...options,
  }),
  Ref: (name: string) => ({ $ref: name }),
  String: plain("string"),
  Union: (kinds: readonly Schema[], options: object = {}) => ({ anyOf: kinds, ...options }),
  Unknown: (options: object = {}) => ({ ...options }),
  Unsafe: (schema: TSchema) => schema,
};

export const Type = words as unknown as Pick<typeof TypeBox, keyof typeof words>;
