import { type Failure, failure } from "../domain/run/failure.ts";
import type { ExtractionProblem } from "../extract/rules/evaluate.ts";

const MAX_NAMED = 5;
/** In the stored list; the fields of a repair are found by it. */
const MAX_FIELDS = 100;

/** Names each invalid field, its rule and the value found. */
export function extractionFailure(errors: readonly ExtractionProblem[], httpStatus?: number): Failure {
  const first = errors[0]!;
  const reason = first.rule.startsWith("schema")
    ? "schema_mismatch"
    : first.found === null
      ? "field_missing"
      : "field_invalid";
  const named = errors.slice(0, MAX_NAMED).map(({ record, field, rule, message, found }) => {
    const where = record > 0 ? ` of record ${record + 1}` : "";
    const instead = found === null ? "" : `, found ${JSON.stringify(found).slice(0, 120)}`;
    return `${field === "" ? "the record" : field}${where} (${rule}): ${message}${instead}`;
  });
  const rest = errors.length > MAX_NAMED ? `; and ${errors.length - MAX_NAMED} more` : "";
  const missing = errors.filter(({ field, found }) => field !== "" && found === null).map(({ field }) => field);
  const fields = [...new Set(missing)].slice(0, MAX_FIELDS);
  return failure(reason, `${named.join("; ")}${rest}`, {
    httpStatus,
    ...(reason === "field_missing" ? { fields } : {}),
  });
}
