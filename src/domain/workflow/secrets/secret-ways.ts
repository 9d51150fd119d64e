/** Where a JSON Schema says that a value is `writeOnly`. */
import type { JsonValue } from "../../lane/queue-item.ts";

export interface Way {
  /** Names and places on the way to a value; `*` is any. */
  keys: readonly string[];
  /** Values that are no secrets there: those that the schema itself names. */
  plain: readonly JsonValue[];
}

const known = new WeakMap<object, readonly Way[]>();
/** References may lead round in a circle. */
const DEEPEST_REFERENCE = 8;

/** Where values stand that the schema says are write-only; references are followed within the schema. */
export function waysOf(schema: JsonValue): readonly Way[] {
  if (!isObject(schema)) return [];
  let ways = known.get(schema);
  if (ways === undefined) {
    ways = waysBelow(schema, schema, 0);
    known.set(schema, ways);
  }
  return ways;
}

/** What the schema of a step calls a secret, and texts that a browser types where the action itself says `secret`. */
export function waysInStep(schema: JsonValue, params: Readonly<Record<string, JsonValue>>): readonly Way[] {
  const { actions } = objectOf(params["browser"]);
  if (!Array.isArray(actions)) return waysOf(schema);
  const typed = actions.flatMap((action, index) =>
    objectOf(action)["secret"] === true
      ? [{ keys: ["browser", "actions", String(index), "text"], plain: [] satisfies JsonValue[] }]
      : [],
  );
  return [...waysOf(schema), ...typed];
}

function waysBelow(schema: JsonValue | undefined, root: JsonValue, references: number): readonly Way[] {
  if (!isObject(schema)) return [];
  if (schema["writeOnly"] === true) return [{ keys: [], plain: [] }];
  const below = (key: string, inner: JsonValue | undefined) =>
    waysBelow(inner, root, references).map(({ keys, plain }) => ({ keys: [key, ...keys], plain }));
  const all = (inner: JsonValue | undefined) => Object.values(objectOf(inner));
  return [
    ...Object.entries(objectOf(schema["properties"])).flatMap(([key, inner]) => below(key, inner)),
    ...["additionalProperties", "items"].flatMap((word) => below("*", schema[word])),
    ...["patternProperties", "prefixItems"].flatMap((word) => all(schema[word]).flatMap((inner) => below("*", inner))),
    ...["anyOf", "oneOf", "allOf"].flatMap((word) => choicesOf(all(schema[word]), root, references)),
    ...["then", "else"].flatMap((word) => waysBelow(schema[word], root, references)),
    ...(references < DEEPEST_REFERENCE ? waysBelow(referred(schema["$ref"], root), root, references + 1) : []),
  ];
}

function referred(reference: JsonValue | undefined, root: JsonValue): JsonValue | undefined {
  if (typeof reference !== "string" || !reference.startsWith("#")) return undefined;
  const path = reference.slice(1).split("/").slice(1);
  return valueAt(
    root,
    path.map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~")),
  );
}

/** What one of several schemas calls a secret is none where another one names it. */
function choicesOf(schemas: readonly JsonValue[], root: JsonValue, references: number): Way[] {
  const named = schemas.flatMap((one) => Object.values(objectOf(objectOf(one)["enum"])));
  return schemas
    .flatMap((one) => waysBelow(one, root, references))
    .map((way) => (way.keys.length === 0 ? { ...way, plain: [...way.plain, ...named] } : way));
}

/** A copy in which the texts, numbers and truth values at the ends of these ways are others. */
export function changeAt(
  value: JsonValue,
  ways: readonly Way[],
  change: (value: JsonValue, path: readonly string[]) => JsonValue,
  path: readonly string[] = [],
): JsonValue {
  if (ways.length === 0 || value === null) return value;
  if (typeof value !== "object") {
    const ends = ways.filter(({ keys }) => keys.length === 0);
    return ends.length > 0 && !ends.some(({ plain }) => plain.includes(value)) ? change(value, path) : value;
  }
  const inner = (key: string) =>
    // All that is below a secret is one.
    ways.flatMap((way) => {
      const [first, ...keys] = way.keys;
      if (first === undefined) return [way];
      return first === key || first === "*" ? [{ ...way, keys }] : [];
    });
  if (Array.isArray(value))
    return value.map((entry, index) => changeAt(entry, inner(String(index)), change, [...path, String(index)]));
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [key, changeAt(entry, inner(key), change, [...path, key])]),
  );
}

export function valueAt(value: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>((inner, key) => {
    const entries = objectOf(inner);
    return Object.hasOwn(entries, key) ? entries[key] : undefined;
  }, value);
}

function isObject(value: JsonValue | undefined): value is { [key: string]: JsonValue } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Lists, too, by their places. */
function objectOf(value: JsonValue | undefined): { [key: string]: JsonValue } {
  return typeof value === "object" && value !== null ? (value as { [key: string]: JsonValue }) : {};
}
