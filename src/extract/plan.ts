/** The extraction plan, compiled once and used for every page of a run. */
import { OrbError } from "../base/errors.ts";
import { isObject } from "../domain/text/input-reader.ts";
import { SchemaError } from "../domain/text/json-schema.ts";
import type { Parsed } from "../domain/lane/queue-item.ts";
import { compileMonitored, type MonitoredPlan, type MonitoredSpec } from "./document/monitored.ts";
import { compileDocument, type DocumentPlan } from "./document/spec.ts";
import { compileItems, compileRule, Problems, readKnown, type Rule } from "./rules/compile.ts";
import type { Select } from "./rules/extractors.ts";
import { compileSchema, type RecordCheck } from "./schema.ts";

export interface PlanSpec {
  /** A list of well-known names, or rules by field name. */
  fields?: unknown;
  /** Selects the records; the rules run once per match. With `jsonpath`, the matches can be the records themselves. */
  items?: unknown;
  /** JSON Schema 2020-12 that each record must satisfy. */
  schema?: unknown;
  /** Collect links (default true); `urls`: their addresses alone. */
  links?: boolean | "urls";
  /** Read the article (default false). */
  article?: boolean;
  /** A DocumentRequest, to return the whole page. */
  document?: unknown;
  /** Return the text for another extractor, up to this many characters. */
  source?: number;
  /** Return the content that a monitor compares. */
  monitor?: MonitoredSpec;
}

export interface Plan {
  readonly rules: readonly Rule[];
  readonly items: Select | null;
  /** Without rules: each JSON item is a record. */
  readonly whole: boolean;
  readonly check: RecordCheck | null;
  readonly links: boolean | "urls";
  readonly article: boolean;
  readonly document: DocumentPlan | null;
  readonly source: number | null;
  readonly monitored: MonitoredPlan | null;
}

const MAX_FIELDS = 200;
const MAX_NAME = 128;

/** The plan, or all errors with their paths (`fields.price.css`). */
export function parsePlan(spec: PlanSpec): Parsed<Plan> {
  const problems = new Problems();
  const hasItems = spec.items !== undefined && spec.items !== null;
  const rules = readFields(spec.fields, hasItems, problems);
  const items = hasItems ? compileItems(spec.items, "items", problems) : null;
  const whole = hasItems && rules.length === 0 && isObject(spec.items) && spec.items["jsonpath"] !== undefined;
  if (hasItems && !whole && rules.length === 0 && problems.list.length === 0) {
    problems.add("items", "needs fields to read from each item");
  }
  const check = readSchema(spec.schema, problems);
  const document =
    spec.document === undefined || spec.document === null ? null : compileDocument(spec.document, "document", problems);
  if (document !== null && rules.some(({ field }) => field === "document"))
    problems.add("fields.document", "is a reserved name because document is set: rename the field");
  const monitored = spec.monitor === undefined ? null : compileMonitored(spec.monitor, problems);
  if (problems.list.length > 0) return { errors: problems.list };
  const { links = true, article = false, source = null } = spec;
  return { ok: { rules, items, whole, check, links, article, document, source, monitored } };
}

/**
 * Defaults for `api_replay`, whose answer is a JSON array of all items: one record per item, and without fields the items
 * themselves.
 */
export function planForReplay(spec: PlanSpec): PlanSpec {
  return spec.items === undefined || spec.items === null ? { ...spec, items: { jsonpath: "$[*]" } } : spec;
}

export function compilePlan(spec: PlanSpec): Plan {
  const { ok, errors } = parsePlan(spec);
  if (ok !== undefined) return ok;
  const message = errors.map((error) => `${error.path}: ${error.message}`).join("; ");
  throw new OrbError("input_invalid", message, { fields: errors });
}

function readFields(fields: unknown, hasItems: boolean, problems: Problems): Rule[] {
  if (fields === undefined || fields === null) return [];
  if (Array.isArray(fields)) return readNames(fields, hasItems, problems);
  if (!isObject(fields)) {
    problems.add("fields", "expected a list of names, or an object of rules");
    return [];
  }
  const entries = Object.entries(fields);
  if (entries.length > MAX_FIELDS)
    problems.add("fields", `has ${entries.length} fields, at most ${MAX_FIELDS} are allowed`);
  return entries.slice(0, MAX_FIELDS).flatMap(([name, value]) => {
    const path = `fields.${name.slice(0, MAX_NAME)}`;
    if (name === "__proto__" || name === "") problems.add(path, "is not a valid field name");
    if (name.length > MAX_NAME) problems.add(path, `is longer than ${MAX_NAME} characters`);
    const rule = compileRule(name, value, path, problems);
    if (hasItems && rule?.known !== undefined && rule.known !== null) {
      problems.add(path, "a well-known field describes the whole page; with items, use css, xpath or jsonpath");
    }
    return rule ?? [];
  });
}

function readNames(names: readonly unknown[], hasItems: boolean, problems: Problems): Rule[] {
  if (hasItems) {
    problems.add("fields", "well-known fields describe the whole page; with items, use rules");
    return [];
  }
  if (names.length > MAX_FIELDS)
    problems.add("fields", `has ${names.length} fields, at most ${MAX_FIELDS} are allowed`);
  return names.slice(0, MAX_FIELDS).flatMap((name, index) => {
    const path = `fields[${index}]`;
    if (names.indexOf(name) < index) problems.add(path, `"${String(name)}" appears twice`);
    const known = readKnown(name, path, problems);
    if (known === null) return [];
    return compileRule(known.name, { known: known.name }, path, problems) ?? [];
  });
}

function readSchema(schema: unknown, problems: Problems): RecordCheck | null {
  if (schema === undefined || schema === null) return null;
  try {
    return compileSchema(schema);
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    problems.add(`schema${error.path}`, error.message);
    return null;
  }
}
