/** What a recipe says under `extract`, checked; and what it means for the rules beside it. */
import type { FieldError } from "../base/errors.ts";
import { type LlmRequest, extractRequestOf } from "../domain/page/extract-request.ts";
import { isObject } from "../domain/text/input-reader.ts";
import { compileJsonSchema, SchemaError } from "../domain/text/json-schema.ts";
import type { JsonValue } from "../domain/lane/queue-item.ts";
import { fieldErrors } from "../domain/text/schema-faults.ts";
import { suggest } from "../domain/text/suggest.ts";
import type { PlanSpec } from "./plan.ts";

/** An extractor of the user's own, as its module describes it. */
export interface KnownExtractor {
  name: string;
  about: string | null;
  /** JSON Schema of its params; null: it takes any, or none. */
  params: JsonValue;
}

/** Whether there is such an extractor, and it takes these params. */
export function checkNamed(extract: JsonValue | undefined, known: readonly KnownExtractor[]): FieldError[] {
  const request = extract === undefined ? null : extractRequestOf({ extract });
  if (request === null || "llm" in request) return [];
  const { name, params = {} } = request;
  const extractor = known.find((one) => one.name === name);
  if (extractor === undefined) {
    const near = suggest(
      name,
      known.map((one) => one.name),
    );
    const hint = near === undefined ? "" : `, did you mean "${near}"?`;
    return [{ path: "extract.name", message: `the module of APP_HANDLERS has no extractor of this name${hint}` }];
  }
  if (extractor.params === null) return [];
  return fieldErrors(compileJsonSchema(extractor.params, { defaults: false })(params), params, "extract.params.");
}

const LONGEST_PROMPT = 10_000;
const LONGEST_NAME = 100;

interface Beside {
  fields?: unknown;
  items?: unknown;
  document?: unknown;
}

/** Every mistake, with its path. `offers` says which means there are. */
export function checkExtract(extract: unknown, beside: Beside, offers: { llm: boolean }): FieldError[] {
  if (extract === undefined || extract === null) return [];
  const problems: FieldError[] = [];
  const wrong = (path: string, message: string) => problems.push({ path, message });
  const keys = isObject(extract) ? Object.keys(extract).filter((key) => extract[key] !== undefined) : [];
  if (!isObject(extract) || keys.includes("llm") === keys.includes("name")) {
    wrong("extract", 'expected {"llm": {"schema": …}}, or {"name": "…"} for an extractor of your own');
    return problems;
  }
  const known = keys.includes("llm") ? ["llm"] : ["name", "params"];
  for (const key of keys) if (!known.includes(key)) wrong(`extract.${key}`, "unknown key");
  if (beside.items !== undefined && beside.items !== null)
    wrong("items", "cannot go with extract, which reads the page as a whole");
  if (known[0] === "llm") checkLlm(extract["llm"], beside, offers, wrong);
  else if (typeof extract["name"] !== "string" || extract["name"] === "" || extract["name"].length > LONGEST_NAME)
    wrong("extract.name", `expected the name of an extractor, at most ${LONGEST_NAME} characters`);
  return problems;
}

function checkLlm(
  llm: unknown,
  beside: Beside,
  offers: { llm: boolean },
  wrong: (path: string, message: string) => void,
): void {
  const path = "extract.llm";
  if (!offers.llm) wrong(path, NO_ENDPOINT);
  if (!isObject(llm)) {
    wrong(path, 'expected {"schema": …, "prompt": "…"}');
    return;
  }
  for (const key of Object.keys(llm)) if (key !== "schema" && key !== "prompt") wrong(`${path}.${key}`, "unknown key");
  const { schema = null, prompt = null } = llm;
  if (schema === null && prompt === null) wrong(path, "needs schema or prompt: what is wanted of the page");
  if (prompt !== null && (typeof prompt !== "string" || prompt.trim() === "" || prompt.length > LONGEST_PROMPT))
    wrong(`${path}.prompt`, `expected a text of 1 to ${LONGEST_PROMPT} characters`);
  if (schema === null) return;
  if (!isObject(schema) || !hasShape(schema)) {
    wrong(`${path}.schema`, 'expected a JSON Schema whose type is "object" (one record) or "array" (several)');
    return;
  }
  try {
    compileJsonSchema(schema, { defaults: false });
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    wrong(`${path}.schema${error.path}`, error.message);
    return;
  }
  const names = namesOf(beside);
  for (const name of propertiesOf(schema))
    if (names.has(name))
      wrong(`${path}.schema.properties.${name}`, "is also the name of a field: one of them would be lost");
}

const NO_ENDPOINT =
  "there is no model to ask: the operator sets APP_LLM_URL to an OpenAI-compatible endpoint (and APP_LLM_KEY, APP_LLM_MODEL)";

function hasShape({ type = "object" }: Record<string, unknown>): boolean {
  return type === "object" || type === "array";
}

/** The answer is a list of records. */
export function givesList({ schema }: LlmRequest): boolean {
  return isObject(schema) && schema["type"] === "array";
}

function propertiesOf(schema: Record<string, unknown>): string[] {
  const of = schema["type"] === "array" ? schema["items"] : schema;
  return isObject(of) && isObject(of["properties"]) ? Object.keys(of["properties"]) : [];
}

function namesOf({ fields, document = null }: Beside): ReadonlySet<string> {
  const names = Array.isArray(fields) ? fields.map(String) : isObject(fields) ? Object.keys(fields) : [];
  return new Set(document === null ? names : [...names, "document"]);
}

/** Characters of a page that anybody is given; how many a model gets is the operator's say. */
const MOST_SOURCE = 1_000_000;

/** What the rules have to bring along for it, in a plan's words; null: nothing reads the page besides them. */
export function sourceWanted(recipe: { extract?: JsonValue }): Pick<PlanSpec, "source"> | null {
  if (extractRequestOf(recipe) === null) return null;
  return { source: MOST_SOURCE };
}
