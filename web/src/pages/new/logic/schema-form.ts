/** Renders a JSON Schema of params as form fields. */
import { capital } from "../../../logic/format.ts";

type Schema = Readonly<Record<string, unknown>>;
export type Params = Readonly<Record<string, unknown>>;

export interface ParamField {
  /** `crawl.url` is nested in `crawl`. */
  path: readonly string[];
  label: string;
  help: string;
  required: boolean;
  /**
   * `pairs`: names and values, one per line. `rules`: names, or names and selectors. `names`: one or several texts, one
   * per line. `either`: a text, or JSON. `json`: anything else.
   */
  kind: "text" | "number" | "flag" | "choice" | "lines" | "names" | "pairs" | "rules" | "either" | "json";
  choices: readonly string[];
  /** The default if left empty. */
  usual: string;
  isSecret: boolean;
}

const asSchema = (value: unknown): Schema => (typeof value === "object" && value !== null ? (value as Schema) : {});
const typesOf = (schema: Schema) => [schema["type"] ?? []].flat().filter((type) => type !== "null");

/** A list of texts, also if a single text is allowed. */
function isTexts(schema: Schema): boolean {
  const choices = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(choices)) return choices.some((one) => isTexts(asSchema(one)));
  const inner = typesOf(asSchema(schema["items"]));
  return typesOf(schema).join() === "array" && inner.join() === "string";
}

/** An object with arbitrary keys and text or number values. */
function isPairs(schema: Schema): boolean {
  const inner = typesOf(asSchema(schema["additionalProperties"])).join();
  return typesOf(schema).join() === "object" && (inner === "number" || inner === "string");
}

const pairsText = (value: Schema) =>
  Object.entries(value)
    .map(([name, inner]) => `${name}: ${String(inner)}`)
    .join("\n");

const areTexts = (values: readonly unknown[]) => values.every((one) => typeof one === "string");

/** Names, or names with selectors; more complex rules are JSON. */
function rulesText(value: unknown): string {
  if (Array.isArray(value) && areTexts(value)) return value.join("\n");
  if (!Array.isArray(value) && areTexts(Object.values(asSchema(value)))) return pairsText(asSchema(value));
  return shown(value);
}

const words = (name: string) => {
  const spaced = name
    .replaceAll("_", " ")
    .replaceAll(".", ": ")
    .replaceAll(/\b(?:url|id|json|csv)\b/g, (short) => short.toUpperCase());
  return capital(spaced);
};

/** The schema's own title. */
function titleIn(schema: Schema): string | null {
  const { title } = schema;
  return typeof title === "string" && title.trim() !== "" ? title.trim() : null;
}

function kindOf(schema: Schema): ParamField["kind"] {
  if (Array.isArray(schema["enum"])) return "choice";
  if (isTexts(schema)) return "lines";
  const types = typesOf(schema);
  if (types.length !== 1) {
    const all = types.map(String).toSorted().join();
    if (all === "array,object") return "rules";
    if (all === "array,string") return "names";
    if (!types.includes("string")) return "json";
    return types.includes("object") || types.includes("array") ? "either" : "text";
  }
  if (isPairs(schema)) return "pairs";
  const [type] = types;
  if (type === "integer" || type === "number") return "number";
  if (type === "boolean") return "flag";
  if (type === "string") return "text";
  return "json";
}

/** The default, as typed. */
function usualOf(schema: Schema): string {
  const usual = schema["default"];
  const kind = kindOf(schema);
  if (kind === "lines" && Array.isArray(usual)) return usual.join("\n");
  if (kind === "pairs") return pairsText(asSchema(usual));
  if (kind === "rules") return rulesText(usual);
  return shown(usual).replace(/^(?:\[\]|\{\})$/, "");
}

const shown = (value: unknown) =>
  value === undefined || value === null ? "" : typeof value === "string" ? value : JSON.stringify(value);

/** Fields for all params; objects with known keys are flattened. Required ones come first. */
export function fieldsOf(schema: unknown, before: readonly string[] = [], isNeeded = true): ParamField[] {
  const { properties, required } = asSchema(schema);
  const needed = new Set(Array.isArray(required) ? required.map(String) : []);
  const fields = Object.entries(asSchema(properties)).flatMap(([name, value]) => {
    const inner = asSchema(value);
    const path = [...before, name];
    const isRequired = isNeeded && needed.has(name);
    if (inner["properties"] !== undefined && before.length === 0) return fieldsOf(inner, path, isRequired);
    return [
      {
        path,
        label: titleIn(inner) ?? words(path.join(".")),
        help: shown(inner["description"]),
        required: isRequired,
        kind: kindOf(inner),
        choices: Array.isArray(inner["enum"]) ? inner["enum"].filter((one) => one !== null).map(String) : [],
        usual: usualOf(inner),
        isSecret: inner["writeOnly"] === true,
      } satisfies ParamField,
    ];
  });
  return [...fields.filter((field) => field.required), ...fields.filter((field) => !field.required)];
}

/** The value of a field, as typed. */
export function typedParam(params: Params, { path, kind }: Pick<ParamField, "path" | "kind">): string {
  let value: unknown = params;
  for (const key of path) value = asSchema(value)[key];
  if (value === undefined || value === null) return "";
  if ((kind === "lines" || kind === "names") && Array.isArray(value)) return value.join("\n");
  // Incomplete pairs stay as typed.
  if (kind === "pairs" && typeof value === "object") return pairsText(asSchema(value));
  if (kind === "rules" && typeof value === "object") return rulesText(value);
  return typeof value === "string" ? value : JSON.stringify(value);
}

const PAIR = /^\s*([^:]+?)\s*:\s*(\S.*?)\s*$/;
const NUMBER = /^-?\d+(?:\.\d+)?$/;

/** Stays text while a line is not a pair yet, so that nothing typed is lost. */
function pairsOf(text: string): unknown {
  const pairs = text.split("\n").map((line) => PAIR.exec(line));
  if (!pairs.every((pair) => pair !== null)) return text;
  const all = Object.fromEntries(
    pairs.map(([, name = "", value = ""]) => [name, NUMBER.test(value) ? Number(value) : value]),
  );
  return pairsText(all) === text ? all : text;
}

/** Anything else stays as typed, for the server to report. */
function rulesOf(text: string): unknown {
  if (/^\s*[[{]/.test(text)) return jsonOr(text);
  return text.includes(":") ? pairsOf(text) : text.split("\n");
}

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** Normalised on blur: without empty lines, and 0.80 as 0.8. */
export function tidyPairs(text: string): string {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines
    .map((line) => {
      const [, name, value = ""] = PAIR.exec(line) ?? [];
      return name === undefined ? line : `${name}: ${NUMBER.test(value) ? String(Number(value)) : value}`;
    })
    .join("\n");
}

function valueOf({ kind }: Pick<ParamField, "kind">, text: string): unknown {
  if (kind === "lines") {
    // Text being typed keeps its empty last line until blur.
    return text.split("\n");
  }
  if (kind === "number") return /^-?\d+(?:\.\d+)?$/.test(text.trim()) ? Number(text) : text;
  if (kind === "flag") return text === "true";
  if (kind === "pairs") return pairsOf(text);
  if (kind === "rules") return rulesOf(text);
  if (kind === "names")
    return text.trimStart().startsWith("[") ? jsonOr(text) : text.includes("\n") ? text.split("\n") : text;
  return kind === "json" || kind === "either" ? jsonOr(text) : text;
}

/** The params after a change of one field; empty fields and empty objects are omitted. */
export function withParam(params: Params, field: Pick<ParamField, "path" | "kind">, text: string): Params {
  const [head = "", ...rest] = field.path;
  const { [head]: before, ...others } = params;
  if (rest.length > 0) {
    const inner = withParam(asSchema(before), { ...field, path: rest }, text);
    return Object.keys(inner).length === 0 ? others : { ...others, [head]: inner };
  }
  return text === "" ? others : { ...others, [head]: valueOf(field, text) };
}

/** Lists without empty lines, as sent. */
export function tidied(params: Params): Params {
  const tidy = (value: unknown): unknown => {
    if (Array.isArray(value) && value.every((one) => typeof one === "string"))
      return value.map((one) => one.trim()).filter((one) => one !== "");
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, tidy(inner)]));
  };
  return tidy(params) as Params;
}

/** Whether the value at a path changed; a path may contain list indices. */
export function isChanged(path: string, before: Params, after: Params): boolean {
  const at = (params: Params) => {
    let value: unknown = params;
    for (const key of path.replace(/\[.*$/, "").split(".")) value = asSchema(value)[key];
    return JSON.stringify(value);
  };
  return at(before) !== at(after);
}

/** Errors of the params by field; the others are shown above the fields. */
export function problemsOfParams(
  fields: readonly ParamField[],
  problems: readonly { path: string; message: string }[],
): { byField: Map<ParamField, string>; others: string[] } {
  const byField = new Map<ParamField, string>();
  const others: string[] = [];
  for (const { path, message } of problems) {
    const at = (one: ParamField) => one.path.join(".");
    // A missing object is reported at its required fields.
    const field =
      fields.find((one) => isWithin(path, at(one))) ??
      fields.find((one) => one.required && path !== "" && isWithin(at(one), path));
    const said = capital(message);
    const text = /[.!?]$/.test(said) ? said : `${said}.`;
    if (field === undefined) others.push(path === "" ? text : `${words(path)}: ${message}`);
    else byField.set(field, [byField.get(field), text].filter((one) => one !== undefined).join(" "));
  }
  return { byField, others };
}

const isWithin = (path: string, outer: string) =>
  path === outer || path.startsWith(`${outer}.`) || path.startsWith(`${outer}[`);
