import type { Seal } from "../../base/seal.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { closedKeys } from "../../domain/workflow/closed-keys.ts";
import { completeParams } from "../../domain/workflow/params-check.ts";
import { keepHiddenParams, openSchema } from "../../domain/workflow/secrets/secrets.ts";

type Params = Readonly<Record<string, JsonValue>>;

/**
 * The params of a workflow in clear text, with the schema's defaults; null: invalid, and the errors were reported.
 * `before` are the stored ones: `***` keeps a stored secret.
 */
export function filledParams(
  seal: Seal,
  schema: JsonValue | null,
  input: Params,
  before: Params,
  report: (path: string, message: string) => void,
): Params | null {
  if (schema === null) {
    for (const name of Object.keys(input))
      report(name, "the definition declares no params: declare it there, or remove it");
    return Object.keys(input).length === 0 ? {} : null;
  }
  let isKept = true;
  const kept = keepHiddenParams(seal, schema, input, before, (path, message) => {
    isKept = false;
    report(path, message);
  });
  if (!isKept) return null;
  const { ok, errors } = completeParams(withoutOthers(openSchema(seal, schema)), kept);
  if (ok !== undefined) return ok;
  for (const { path, message } of errors) report(path.replace(/^params\.?/, ""), message);
  return null;
}

/** Expressions can only use params of the schema, so an unknown one is a mistake, unless the schema allows it. */
function withoutOthers(schema: JsonValue): JsonValue {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return schema;
  const isClosed = schema["properties"] !== undefined && closedKeys(schema) !== null;
  return isClosed ? { ...schema, additionalProperties: false } : schema;
}
