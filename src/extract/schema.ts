/** The schema that every record of a page has to satisfy. */
import type { ErrorObject } from "ajv";
import { compileJsonSchema } from "../domain/json-schema.ts";
import type { JsonValue } from "../domain/queue-item.ts";

export interface SchemaProblem {
  /** `/offers/0/price`, empty for the record itself. */
  path: string;
  /** `/properties/price/type`. */
  rule: string;
  message: string;
}

export type RecordCheck = (record: JsonValue) => SchemaProblem[];

const MAX_PROBLEMS = 20;

/** Throws a SchemaError with the path of what is wrong. */
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
