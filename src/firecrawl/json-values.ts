/** `json`: values by the names of a schema, from what pages say about themselves, or by a language model where one is configured. */
import { isDeepStrictEqual } from "node:util";
import { without } from "../base/without.ts";
import type { JsonValue } from "../domain/lane/queue-item.ts";
import { InputReader, isObject } from "../domain/text/input-reader.ts";
import { KNOWN_FIELD_NAMES } from "../orchestrator/reading-names.ts";

export interface JsonAsk {
  by: "names" | "llm";
  ask: { schema?: JsonValue; prompt?: string };
  /** The name under which it is answered; absent: `json`. */
  under?: "extract";
}

const NEEDS_MODEL = "needs a language model (set APP_LLM_URL), or a schema whose properties are names of page metadata";

export function readJsonAsk(reader: InputReader, path: string, options: unknown, llm: boolean): JsonAsk | null {
  const inner = new InputReader(isObject(options) ? options : {}, reader.at(path), reader.errors);
  const schema = inner.object("schema", "a JSON Schema");
  const prompt = inner.text("prompt");
  const ask = {
    ...(schema === undefined ? {} : { schema: without(schema, "$schema") as JsonValue }),
    ...(prompt === undefined ? {} : { prompt }),
  };
  if (llm && Object.keys(ask).length > 0) return { by: "llm", ask };
  if (Object.keys(propertiesOf(ask.schema)).length > 0) return { by: "names", ask };
  reader.addError(path, Object.keys(ask).length === 0 ? "needs a schema or a prompt" : NEEDS_MODEL);
  return null;
}

function propertiesOf(schema: JsonValue | undefined): Readonly<Record<string, unknown>> {
  return isObject(schema) && isObject(schema["properties"]) ? schema["properties"] : {};
}

/** Names that people give to what we call otherwise. */
const ALSO: Readonly<Record<string, string>> = {
  name: "title",
  headline: "title",
  summary: "description",
  date: "published_at",
  published: "published_at",
  published_date: "published_at",
  date_published: "published_at",
  modified: "modified_at",
  content: "markdown",
  body: "text",
  url: "canonical_url",
  lang: "language",
  site: "site_name",
};

const snake = (name: string) =>
  name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replaceAll("-", "_")
    .toLowerCase();

/** Rules that look for each property: as a well-known field, else by its name in the structured data of the page. */
export function fieldsFor({ ask }: JsonAsk): Record<string, JsonValue> {
  const rules = Object.keys(propertiesOf(ask.schema)).map((name): [string, JsonValue] => {
    const known = [snake(name), ALSO[snake(name)] ?? ""].find((one) => KNOWN_FIELD_NAMES.includes(one));
    if (known !== undefined) return [name, { known }];
    return [name, { jsonpath: `$..[${JSON.stringify(name)}]`, from: "json-ld" }];
  });
  return Object.fromEntries(rules);
}

/** The values of the schema's properties, each of its type or null; missing ones are reported. */
export function jsonOf(
  { by, ask }: JsonAsk,
  record: Readonly<Record<string, unknown>>,
  metadata: Readonly<Record<string, unknown>>,
): { json: Record<string, unknown>; missing: string[] } {
  if (by === "llm") return { json: { ...record }, missing: [] };
  const missing: string[] = [];
  const values = Object.entries(propertiesOf(ask.schema)).map(([name, schema]) => {
    const value = fitted(record[name] ?? fromMetadata(name, metadata), schema);
    if (value === null) missing.push(name);
    return [name, value] as const;
  });
  return { json: Object.fromEntries(values), missing };
}

function fromMetadata(name: string, metadata: Readonly<Record<string, unknown>>): unknown {
  const names = [name, snake(name), `og:${snake(name)}`, `article:${snake(name)}`, `product:${snake(name)}`];
  return names.map((one) => metadata[one]).find((value) => value !== undefined && value !== null);
}

/** A value as the schema wants it; null: it cannot be that. */
function fitted(value: unknown, schema: unknown): unknown {
  if (value === undefined || value === null) return null;
  const type = isObject(schema) ? [schema["type"]].flat().find((one) => one !== "null") : undefined;
  if (isObject(schema) && Array.isArray(schema["enum"]) && !schema["enum"].some((one) => isDeepStrictEqual(one, value)))
    return null;
  switch (type) {
    case "string":
      return typeof value === "string" ? value : typeof value === "object" ? null : String(value);
    case "number":
    case "integer": {
      const number = typeof value === "number" ? value : Number.parseFloat(String(value).replace(/[^\d.-]+/g, ""));
      return Number.isFinite(number) && (type === "number" || Number.isInteger(number)) ? number : null;
    }
    case "boolean":
      return typeof value === "boolean" ? value : null;
    case "array":
      return Array.isArray(value) ? value : [value];
    case "object":
      return isObject(value) ? value : null;
    default:
      return value;
  }
}
