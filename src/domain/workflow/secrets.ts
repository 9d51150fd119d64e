/**
 * Values in the params of steps that nobody is to read again: texts whose schema says `writeOnly`. They are stored sealed,
 * opened where the step runs, and shown as `***`. Expressions among them stay what they are.
 */
import { isDeepStrictEqual } from "node:util";
import { isOrbError } from "../../base/errors.ts";
import type { Seal } from "../../base/seal.ts";
import type { JsonValue } from "../queue-item.ts";

type Params = Readonly<Record<string, JsonValue>>;
interface Way {
  /** Names and places on the way to a value; `*` is any. */
  keys: readonly string[];
  /** Texts that are no secrets there: those that the schema itself names. */
  plain: readonly JsonValue[];
}

/** What is shown instead. */
export const HIDDEN = "***";
const MARK = "orb-sealed:";
const SEALED_FOR_STEP = "step of a workflow";

export function isSealed(value: unknown): value is string {
  return typeof value === "string" && value.startsWith(MARK);
}

/** The same with `***` for all that is sealed, however deep. */
export function withoutSecrets<T>(value: T): T {
  if (isSealed(value)) return HIDDEN as T;
  if (Array.isArray(value)) return value.map(withoutSecrets) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutSecrets(inner)])) as T;
}

/** What the step is to work with. Throws `secret_key_wrong`. */
export function openSecrets(seal: Seal, schema: JsonValue, params: Params): Params {
  return changed(params, waysOf(schema), (text) => (isSealed(text) ? opened(seal, text) : text)) as Params;
}

interface WrittenStep {
  name?: JsonValue;
  task_type?: JsonValue;
  params?: Params;
}

/**
 * The definition as it is stored; it has been checked. A `***` stands for what is there in `before`, in a step whose other
 * params are the same: what was given for one address is not sent to another. Elsewhere its path is told.
 */
export function sealDefinition<T>(
  seal: Seal,
  schemaOf: (kind: string) => JsonValue | undefined,
  definition: T,
  before: unknown,
  tell: (path: string, message: string) => void,
): T {
  const earlier = new Map(stepsOf(before).map((step) => [step.name, step]));
  const steps = stepsOf(definition).map((step, index) => {
    const ways = waysOf(schemaOf(String(step.task_type)) ?? null);
    if (ways.length === 0 || step.params === undefined) return step;
    const old = earlier.get(step.name);
    const same = old !== undefined && old.task_type === step.task_type && looksSame(old.params, step.params, ways);
    const params = changed(step.params, ways, (text, path) => {
      const known = same ? valueAt(old.params, path) : undefined;
      if (isSealed(known) && (text === HIDDEN || text === known || stillOpens(seal, known) === text)) return known;
      if (text === HIDDEN)
        tell(
          `steps[${index}].params${path.map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`)).join("")}`,
          `${HIDDEN} is shown instead of a value that is kept only while the step stays the same: give the value itself`,
        );
      return isExpression(text) ? text : `${MARK}${Buffer.from(seal.close(text, SEALED_FOR_STEP)).toString("base64")}`;
    });
    return { ...step, params };
  });
  return { ...definition, steps };
}

function stepsOf(definition: unknown): WrittenStep[] {
  return ((definition as { steps?: WrittenStep[] } | null) ?? {}).steps ?? [];
}

function isExpression(text: string): boolean {
  return text.includes("${{");
}

function looksSame(old: Params | undefined, params: Params, ways: readonly Way[]): boolean {
  const shown = (value: JsonValue) => changed(value, ways, (text) => (isExpression(text) ? text : HIDDEN));
  return isDeepStrictEqual(shown(old ?? {}), shown(params));
}

function opened(seal: Seal, text: string): string {
  return String(seal.open(Buffer.from(text.slice(MARK.length), "base64"), SEALED_FOR_STEP));
}

/** null: it was sealed under another key. */
function stillOpens(seal: Seal, text: string): string | null {
  try {
    return opened(seal, text);
  } catch (error) {
    if (isOrbError(error, "secret_key_wrong")) return null;
    throw error;
  }
}

const known = new WeakMap<object, readonly Way[]>();

/** Where texts stand that the schema says are write-only; it does not look behind references. */
function waysOf(schema: JsonValue): readonly Way[] {
  if (!isObject(schema)) return [];
  if (schema["writeOnly"] === true) return [{ keys: [], plain: [] }];
  let ways = known.get(schema);
  if (ways === undefined) {
    const below = (key: string, inner: JsonValue | undefined) =>
      waysOf(inner ?? null).map(({ keys, plain }) => ({ keys: [key, ...keys], plain }));
    ways = [
      ...Object.entries(objectOf(schema["properties"])).flatMap(([key, inner]) => below(key, inner)),
      ...["additionalProperties", "items"].flatMap((word) => below("*", schema[word])),
      ...["anyOf", "oneOf", "allOf"].flatMap((word) => choicesOf(Object.values(objectOf(schema[word])))),
    ];
    known.set(schema, ways);
  }
  return ways;
}

/** What one of several schemas calls a secret is none where another one names it. */
function choicesOf(schemas: readonly JsonValue[]): Way[] {
  const named = schemas.flatMap((one) => Object.values(objectOf(objectOf(one)["enum"])));
  return schemas
    .flatMap(waysOf)
    .map((way) => (way.keys.length === 0 ? { ...way, plain: [...way.plain, ...named] } : way));
}

/** A copy in which the texts at the ends of these ways are others. */
function changed(
  value: JsonValue,
  ways: readonly Way[],
  change: (text: string, path: readonly string[]) => string,
  path: readonly string[] = [],
): JsonValue {
  if (ways.length === 0) return value;
  if (typeof value === "string") {
    const ends = ways.filter(({ keys }) => keys.length === 0);
    return ends.length > 0 && !ends.some(({ plain }) => plain.includes(value)) ? change(value, path) : value;
  }
  if (typeof value !== "object" || value === null) return value;
  const inner = (key: string) =>
    // All that is below a secret is one.
    ways.flatMap((way) => {
      const [first, ...keys] = way.keys;
      if (first === undefined) return [way];
      return first === key || first === "*" ? [{ ...way, keys }] : [];
    });
  if (Array.isArray(value))
    return value.map((entry, index) => changed(entry, inner(String(index)), change, [...path, String(index)]));
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [key, changed(entry, inner(key), change, [...path, key])]),
  );
}

function valueAt(value: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>((inner, key) => objectOf(inner)[key], value);
}

function isObject(value: JsonValue | undefined): value is { [key: string]: JsonValue } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Lists, too, by their places. */
function objectOf(value: JsonValue | undefined): { [key: string]: JsonValue } {
  return typeof value === "object" && value !== null ? (value as { [key: string]: JsonValue }) : {};
}
