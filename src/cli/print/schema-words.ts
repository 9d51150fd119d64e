/** Describes a JSON Schema in words, for tables of params. */
import type { JsonValue } from "../../domain/lane/queue-item.ts";

interface ParamRow {
  /** `crawl.url` is a key within a param. */
  name: string;
  type: string;
  /** `required`, the default value, or empty. */
  fallback: string;
  about: string;
}

type Schema = Readonly<Record<string, JsonValue>>;

const asSchema = (value: JsonValue | undefined): Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Schema) : {};
const listOf = (value: JsonValue | undefined): readonly JsonValue[] =>
  value === undefined ? [] : ([value] as JsonValue[]).flat();

export function schemaRows(schema: JsonValue, before = ""): ParamRow[] {
  const { properties, required } = asSchema(schema);
  const needed = new Set(listOf(required));
  return Object.entries(asSchema(properties)).flatMap(([name, value]) => {
    const property = asSchema(value);
    const fallback = needed.has(name)
      ? "required"
      : property["default"] === undefined
        ? ""
        : JSON.stringify(property["default"]);
    const row = { name: `${before}${name}`, type: typeWords(property), fallback, about: aboutOf(property) };
    return [row, ...schemaRows(property, `${before}${name}.`)];
  });
}

/** For a nullable schema, the description is often in its non-null branch. */
function aboutOf(schema: Schema): string {
  const choices = [...listOf(schema["anyOf"]), ...listOf(schema["oneOf"])].map(asSchema);
  return String([schema, ...choices].find((one) => one["description"] !== undefined)?.["description"] ?? "");
}

/** `integer, 1 to 100`, `"zip" or "tar"`, `list of texts`. */
export function typeWords(schema: Schema): string {
  const choices = [...listOf(schema["anyOf"]), ...listOf(schema["oneOf"])].map((one) => typeWords(asSchema(one)));
  const values = listOf(schema["enum"]).map((value) => JSON.stringify(value));
  // Values imply their types.
  const types = values.length > 0 ? [] : listOf(schema["type"]).map((type) => oneType(String(type), schema));
  const words = [...new Set([...values, ...types, ...choices])].filter((word) => word !== "");
  return `${words.length === 0 ? "anything" : words.join(" or ")}${boundsOf(schema)}`;
}

function oneType(type: string, schema: Schema): string {
  if (type === "string") return "text";
  if (type === "array") {
    const inner = schema["items"] === undefined ? "" : typeWords(asSchema(schema["items"]));
    return inner === "" || inner === "anything" ? "list" : `list of ${inner}`;
  }
  return type;
}

function boundsOf(schema: Schema): string {
  const least = schema["minimum"] ?? schema["exclusiveMinimum"];
  const most = schema["maximum"];
  if (least === undefined && most === undefined) return "";
  const above = schema["minimum"] === undefined && least !== undefined;
  if (most === undefined) return above ? `, above ${least}` : `, at least ${least}`;
  return least === undefined
    ? `, at most ${most}`
    : above
      ? `, above ${least}, at most ${most}`
      : `, ${least} to ${most}`;
}
