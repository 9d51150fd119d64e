/** Validates `extract` of a recipe, and derives its effect on the extraction plan. */
import type { FieldError } from "../base/errors.ts";
import { type LlmRequest, extractRequestOf } from "../domain/page/extract-request.ts";
import { isObject } from "../domain/text/input-reader.ts";
import { compileJsonSchema, SchemaError } from "../domain/text/json-schema.ts";
import type { JsonValue } from "../domain/lane/queue-item.ts";
import { fieldErrors } from "../domain/text/schema-faults.ts";
import { suggest } from "../domain/text/suggest.ts";
import type { PlanSpec } from "./plan.ts";

/** A custom extractor, as described by its module. */
export interface KnownExtractor {
  name: string;
  about: string | null;
  /** JSON Schema of its params; null: any. */
  params: JsonValue;
}

/** Checks that the named extractor exists and accepts the params. */
export function checkNamed(extract: JsonValue | undefined, known: readonly KnownExtractor[]): FieldError[] {
  const request = extract === undefined ? null : extractRequestOf({ extract });
  if (request === null || "llm" in request) return [];
  const { name, params = {} } = request;
  const extractor = known.find((candidate) => candidate.name === name);
  if (extractor === undefined) {
    const near = suggest(
      name,
      known.map((candidate) => candidate.name),
    );
    const hint = near === undefined ? "" : `, did you mean "${near}"?`;
    return [{ path: "extract.name", message: `the module of APP_HANDLERS has no extractor of this name${hint}` }];
  }
  if (extractor.params === null) return [];
  return fieldErrors(compileJsonSchema(extractor.params, { defaults: false })(params), params, "extract.params.");
}

const MAX_PROMPT = 10_000;
const MAX_NAME = 100;

interface OtherOptions {
  fields?: unknown;
  items?: unknown;
  document?: unknown;
}

/** All errors, with their paths. `offers`: what is configured. */
export function checkExtract(extract: unknown, others: OtherOptions, offers: { llm: boolean }): FieldError[] {
  if (extract === undefined || extract === null) return [];
  const problems: FieldError[] = [];
  const addProblem = (path: string, message: string) => problems.push({ path, message });
  const keys = isObject(extract) ? Object.keys(extract).filter((key) => extract[key] !== undefined) : [];
  if (!isObject(extract) || keys.includes("llm") === keys.includes("name")) {
    addProblem("extract", 'expected {"llm": {"schema": …}}, or {"name": "…"} for an extractor of your own');
    return problems;
  }
  const known = keys.includes("llm") ? ["llm"] : ["name", "params"];
  for (const key of keys) if (!known.includes(key)) addProblem(`extract.${key}`, "unknown key");
  if (others.items !== undefined && others.items !== null)
    addProblem("items", "cannot be combined with extract, which reads the whole page");
  if (known[0] === "llm") checkLlm(extract["llm"], others, offers, addProblem);
  else if (typeof extract["name"] !== "string" || extract["name"] === "" || extract["name"].length > MAX_NAME)
    addProblem("extract.name", `expected the name of an extractor, at most ${MAX_NAME} characters`);
  return problems;
}

function checkLlm(
  llm: unknown,
  others: OtherOptions,
  offers: { llm: boolean },
  addProblem: (path: string, message: string) => void,
): void {
  const path = "extract.llm";
  if (!offers.llm) addProblem(path, NO_ENDPOINT);
  if (!isObject(llm)) {
    addProblem(path, 'expected {"schema": …, "prompt": "…"}');
    return;
  }
  for (const key of Object.keys(llm))
    if (key !== "schema" && key !== "prompt") addProblem(`${path}.${key}`, "unknown key");
  const { schema = null, prompt = null } = llm;
  if (schema === null && prompt === null) addProblem(path, "needs schema or prompt: what to extract from the page");
  if (prompt !== null && (typeof prompt !== "string" || prompt.trim() === "" || prompt.length > MAX_PROMPT))
    addProblem(`${path}.prompt`, `expected a string of 1 to ${MAX_PROMPT} characters`);
  if (schema === null) return;
  if (!isObject(schema) || !hasShape(schema)) {
    addProblem(`${path}.schema`, 'expected a JSON Schema whose type is "object" (one record) or "array" (several)');
    return;
  }
  try {
    compileJsonSchema(schema, { defaults: false });
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    addProblem(`${path}.schema${error.path}`, error.message);
    return;
  }
  const names = namesOf(others);
  for (const name of propertiesOf(schema))
    if (names.has(name))
      addProblem(`${path}.schema.properties.${name}`, "is also the name of a field: rename one of them");
}

const NO_ENDPOINT =
  "no model is configured: the operator must set APP_LLM_URL to an OpenAI-compatible endpoint (and APP_LLM_KEY, APP_LLM_MODEL)";

function hasShape({ type = "object" }: Record<string, unknown>): boolean {
  return type === "object" || type === "array";
}

/** The answer is a list of records. */
export function givesList({ schema }: LlmRequest): boolean {
  return isObject(schema) && schema["type"] === "array";
}

function propertiesOf(schema: Record<string, unknown>): string[] {
  const recordSchema = schema["type"] === "array" ? schema["items"] : schema;
  return isObject(recordSchema) && isObject(recordSchema["properties"]) ? Object.keys(recordSchema["properties"]) : [];
}

function namesOf({ fields, document = null }: OtherOptions): ReadonlySet<string> {
  const names = Array.isArray(fields) ? fields.map(String) : isObject(fields) ? Object.keys(fields) : [];
  return new Set(document === null ? names : [...names, "document"]);
}

/** Characters of a page for any extractor; the operator sets a lower limit for models. */
const MAX_SOURCE = 1_000_000;

/** The plan option that an extractor needs; null: no extractor besides the rules. */
export function sourceWanted(recipe: { extract?: JsonValue }): Pick<PlanSpec, "source"> | null {
  if (extractRequestOf(recipe) === null) return null;
  return { source: MAX_SOURCE };
}
