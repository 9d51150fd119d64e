/** Validates records against the recipe's schema. */
import type { ErrorObject } from "ajv";
import { compileJsonSchema } from "../domain/text/json-schema.ts";
import type { JsonValue } from "../domain/lane/queue-item.ts";
import { depthOf, MAX_JSON_DEPTH } from "./json.ts";
import type { ExtractionProblem } from "./rules/evaluate.ts";

interface SchemaProblem {
  /** `/offers/0/price`, empty for the record itself. */
  path: string;
  /** `/properties/price/type`. */
  rule: string;
  message: string;
}

export type RecordCheck = (record: JsonValue) => SchemaProblem[];

const MAX_PROBLEMS = 20;

/** Throws a SchemaError with the path of the error. */
export function compileSchema(schema: unknown): RecordCheck {
  const check = compileJsonSchema(schema, { defaults: false });
  return (record) => check(record).slice(0, MAX_PROBLEMS).map(problemOf);
}

function problemOf(error: ErrorObject): SchemaProblem {
  const extra = error.keyword === "additionalProperties" ? ` (${String(error.params["additionalProperty"])})` : "";
  return {
    path: error.instancePath,
    rule: error.schemaPath.replace(/^#/, ""),
    message: `${error.message ?? "is not valid"}${extra}`,
  };
}

/** Schema violations of a record; `index` counts from 0. */
export function recordProblems(
  check: RecordCheck,
  record: Record<string, JsonValue>,
  index: number,
): ExtractionProblem[] {
  const recordProblem = (message: string) => [{ record: index, field: "", rule: "schema", message, found: null }];
  if (depthOf(record) > MAX_JSON_DEPTH) return recordProblem("the record is nested too deep");
  try {
    return check(record).map(({ path, rule, message }) => {
      const name = path.split("/")[1] ?? "";
      const found = name === "" ? null : JSON.stringify(record[name] ?? null).slice(0, 200);
      return { record: index, field: path.slice(1).replaceAll("/", "."), rule: `schema ${rule}`, message, found };
    });
  } catch (error) {
    // An infinitely recursive schema.
    return recordProblem(error instanceof Error ? error.message : String(error));
  }
}
