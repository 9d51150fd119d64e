/** `--param name=value`: values are parsed by the types of the workflow's params. */
import { OrbError } from "../../base/errors.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";

type Schema = Readonly<Record<string, JsonValue>>;
type Params = Record<string, JsonValue>;

/**
 * Adds command-line params. `crawl.url=…` sets a nested key; repeating a name builds a list. Unless the schema says
 * otherwise, JSON is parsed, and all else is text.
 */
export function withParams(before: Readonly<Params>, words: readonly string[], schema: JsonValue): Params {
  const params = structuredClone(before) as Params;
  const setNames = new Set<string>();
  for (const word of words) {
    const [, path = "", text = ""] = /^([^=]+)=([^]*)$/.exec(word) ?? [];
    const keys = path.split(".");
    if (path === "" || keys.includes("")) throw badParam(word, "expected name=value, such as --param max_pages=50");
    if (keys.includes("__proto__")) throw badParam(word, "unknown param");
    const within = schemaAt(schema, keys);
    const holder = holderOf(params, keys.slice(0, -1), word);
    const last = keys.at(-1) ?? "";
    const value = valueOf(within, text);
    holder[last] = setNames.has(path) ? repeated(holder[last] ?? null, value, within, word) : asList(within, value);
    setNames.add(path);
  }
  return params;
}

function badParam(word: string, message: string): OrbError {
  const name = word.split("=")[0] ?? "";
  return new OrbError("input_invalid", `--param ${word}: ${message}`, {
    fields: [{ path: `params.${name}`, message }],
  });
}

function holderOf(params: Params, keys: readonly string[], word: string): Params {
  let holder = params;
  for (const key of keys) {
    const inner = (holder[key] ??= {});
    if (typeof inner !== "object" || inner === null || Array.isArray(inner))
      throw badParam(word, `${key} is not an object`);
    holder = inner as Params;
  }
  return holder;
}

const asSchema = (value: JsonValue | undefined): Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Schema) : {};

function schemaAt(schema: JsonValue, keys: readonly string[]): Schema {
  return keys.reduce((within, key) => asSchema(asSchema(within["properties"])[key]), asSchema(schema));
}

/** The types that a value may have; empty: any. */
function typesOf(schema: Schema): Set<string> {
  const declared = schema["type"];
  const types = new Set([declared ?? []].flat().map(String));
  for (const choice of [schema["anyOf"] ?? [], schema["oneOf"] ?? []].flat())
    for (const type of typesOf(asSchema(choice))) types.add(type);
  for (const value of [schema["enum"] ?? []].flat()) types.add(typeOf(value));
  if (types.has("number")) types.add("integer");
  return types;
}

function typeOf(value: JsonValue): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value === "number" && Number.isInteger(value) ? "integer" : typeof value;
}

function valueOf(schema: Schema, text: string): JsonValue {
  const types = typesOf(schema);
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
  if (types.size === 0 || types.has(typeOf(value))) return value;
  // A number where a text is expected stays a text; validation reports what fits nowhere.
  if (types.has("string")) return text;
  return types.has("array") ? valueOf(asSchema(schema["items"]), text) : value;
}

/** Wraps a single value if only a list is allowed. */
function asList(schema: Schema, value: JsonValue): JsonValue {
  const types = typesOf(schema);
  return types.has("array") && !types.has(typeOf(value)) ? [value] : value;
}

function repeated(before: JsonValue, value: JsonValue, schema: Schema, word: string): JsonValue {
  const types = typesOf(schema);
  if (types.size > 0 && !types.has("array")) throw badParam(word, "is set twice but is not a list");
  return [...(Array.isArray(before) ? before : [before]), ...(Array.isArray(value) ? value : [value])];
}
