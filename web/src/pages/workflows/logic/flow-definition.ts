/** Readable definitions of workflows, and their differences. */

export interface StepOutline {
  name: string;
  kind: string;
  dependencies: number[];
  when: string | null;
  forEach: string | null;
  params: [name: string, value: unknown][];
  /** "2 retries", "at most 60 s": what differs from the defaults. */
  notes: string[];
}

export interface ParamOutline {
  name: string;
  type: string;
  required: boolean;
  usual: string | null;
  description: string;
}

interface Outline {
  description: string | null;
  maxRecoveries: number | null;
  steps: StepOutline[];
  params: ParamOutline[];
}

type Loose = Readonly<Record<string, unknown>>;
const asObject = (value: unknown): Loose =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Loose) : {};
const asText = (value: unknown): string | null => (typeof value === "string" ? value : null);
const asNumber = (value: unknown): number | null => (typeof value === "number" ? value : null);

export function outlineOf(definition: unknown): Outline {
  const { description, steps, params, max_recovery_attempts } = asObject(definition);
  const list = Array.isArray(steps) ? steps.map(asObject) : [];
  const names = list.map((step) => asText(step["name"]) ?? "");
  return {
    description: asText(description),
    maxRecoveries: asNumber(max_recovery_attempts),
    steps: list.map((step, index) => stepOutline(step, index, names)),
    params: paramsOf(params),
  };
}

function stepOutline(step: Loose, index: number, names: readonly string[]): StepOutline {
  const { dependencies, for_each, max_retries, timeout, estimated_duration } = step;
  const list = Array.isArray(dependencies) ? (dependencies as unknown[]) : [];
  const notes: string[] = [];
  if (typeof max_retries === "number") notes.push(max_retries === 1 ? "1 retry" : `${max_retries} retries`);
  if (typeof timeout === "number") notes.push(`at most ${timeout} s`);
  if (typeof estimated_duration === "number") notes.push(`about ${estimated_duration} s`);
  return {
    name: asText(step["name"]) ?? `step ${index + 1}`,
    kind: asText(step["task_type"]) ?? "",
    dependencies: list
      .map((one) => (typeof one === "number" ? one : names.indexOf(String(one))))
      .filter((one) => one >= 0 && one < names.length),
    when: asText(step["when"]),
    forEach: for_each === undefined || for_each === null ? null : listOf(for_each),
    params: Object.entries(asObject(step["params"])),
    notes,
  };
}

function listOf(forEach: unknown): string {
  const { in: list, concurrency, on_error } = asObject(forEach);
  const text = typeof forEach === "string" ? forEach : plain(list ?? forEach);
  const more = [
    typeof concurrency === "number" ? `${concurrency} at a time` : "",
    typeof on_error === "string" ? `on failure: ${on_error}` : "",
  ].filter((part) => part !== "");
  return more.length === 0 ? text : `${text} (${more.join(", ")})`;
}

/** Text as it is, everything else as JSON. */
export function plain(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

export function pretty(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? "";
}

export function paramsOf(schema: unknown): ParamOutline[] {
  const { properties, required } = asObject(schema);
  const needed = new Set(Array.isArray(required) ? required.map(String) : []);
  const rows = Object.entries(asObject(properties)).map(([name, value]): ParamOutline => {
    const inner = asObject(value);
    return {
      name,
      type: typeOf(inner),
      required: needed.has(name),
      usual: inner["default"] === undefined ? null : plain(inner["default"]),
      description: asText(inner["description"]) ?? "",
    };
  });
  return [...rows.filter((row) => row.required), ...rows.filter((row) => !row.required)];
}

const TYPES: Readonly<Record<string, string>> = {
  string: "string",
  integer: "integer",
  number: "number",
  boolean: "boolean",
  array: "array",
  object: "object",
  null: "null",
};

function typeOf(schema: Loose): string {
  const { type, enum: values, anyOf, oneOf } = schema;
  if (Array.isArray(values)) return values.map(plain).join(" | ");
  const choices = anyOf ?? oneOf;
  if (Array.isArray(choices)) return [...new Set(choices.map((one) => typeOf(asObject(one))))].join(" or ");
  const types = [type ?? []].flat().map((one) => TYPES[String(one)] ?? String(one));
  return types.length === 0 ? "anything" : types.join(" or ");
}

interface DefinitionChange {
  kind: "added" | "removed" | "changed";
  what: string;
  /** Changed keys. */
  keys: string[];
}

/** Differences of two versions in words: steps and params by name, then the rest. */
export function definitionChanges(before: unknown, after: unknown): DefinitionChange[] {
  const [a, b] = [asObject(before), asObject(after)];
  const steps = named(a["steps"], b["steps"], "step");
  const [schemaA, schemaB] = [asObject(a["params"]), asObject(b["params"])];
  const params = compareKeys(asObject(schemaA["properties"]), asObject(schemaB["properties"]), "param");
  const order =
    steps.every(({ kind }) => kind === "changed") && namesOf(a["steps"]).join("\n") !== namesOf(b["steps"]).join("\n")
      ? [{ kind: "changed" as const, what: "order of the steps", keys: [] }]
      : [];
  const rest = [...new Set([...Object.keys(a), ...Object.keys(b)])]
    .filter((key) => key !== "steps" && key !== "params" && !same(a[key], b[key]))
    .map((key) => ({ kind: "changed" as const, what: key.replaceAll("_", " "), keys: [] }));
  const needed = same(schemaA["required"] ?? [], schemaB["required"] ?? [])
    ? []
    : [{ kind: "changed" as const, what: "required params", keys: [] }];
  return [...steps, ...order, ...params, ...needed, ...rest];
}

const namesOf = (steps: unknown): string[] =>
  Array.isArray(steps) ? steps.map((step) => asText(asObject(step)["name"]) ?? "") : [];

function named(before: unknown, after: unknown, what: string): DefinitionChange[] {
  const byName = (steps: unknown) =>
    Object.fromEntries(namesOf(steps).map((name, index) => [name, (steps as unknown[])[index]]));
  return compareKeys(byName(before), byName(after), what);
}

function compareKeys(before: Loose, after: Loose, what: string): DefinitionChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.flatMap((name): DefinitionChange[] => {
    const label = `${what} ${name}`;
    if (!Object.hasOwn(before, name)) return [{ kind: "added", what: label, keys: [] }];
    if (!Object.hasOwn(after, name)) return [{ kind: "removed", what: label, keys: [] }];
    if (same(before[name], after[name])) return [];
    return [{ kind: "changed", what: label, keys: differing(before[name], after[name]) }];
  });
}

function differing(before: unknown, after: unknown): string[] {
  const [a, b] = [asObject(before), asObject(after)];
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((key) => !same(a[key], b[key]));
}

/** Ignores the order of keys. */
export function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [x, y] = [a as Loose, b as Loose];
  const keys = Object.keys(x);
  return keys.length === Object.keys(y).length && keys.every((key) => Object.hasOwn(y, key) && same(x[key], y[key]));
}

/** Parses typed JSON: the value, or the position of the error. */
export function readJson(text: string): { value: Record<string, unknown> } | { error: string } {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || Array.isArray(value))
      return { error: 'A definition is an object: { "name": …, "steps": [ … ] }' };
    return { value: value as Record<string, unknown> };
  } catch (error) {
    return { error: `Invalid JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}
