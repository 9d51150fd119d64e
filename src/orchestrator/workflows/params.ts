import type { Seal } from "../../base/seal.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { closedKeys } from "../../domain/workflow/closed-keys.ts";
import { completeParams } from "../../domain/workflow/params-check.ts";
import { keepHiddenParams, openSchema } from "../../domain/workflow/secrets.ts";

type Params = Readonly<Record<string, JsonValue>>;

/**
 * What a workflow is started with, in clear, with the schema's defaults for what is not given; null: something is wrong, and was
 * told. `before` is what is stored: its secrets are kept where `***` is given for them.
 */
export function filledParams(
  seal: Seal,
  schema: JsonValue | null,
  given: Params,
  before: Params,
  tell: (path: string, message: string) => void,
): Params | null {
  if (schema === null) {
    for (const name of Object.keys(given))
      tell(name, "the definition asks for no params: declare it there, or leave it out");
    return Object.keys(given).length === 0 ? {} : null;
  }
  let isKept = true;
  const kept = keepHiddenParams(seal, schema, given, before, (path, message) => {
    isKept = false;
    tell(path, message);
  });
  if (!isKept) return null;
  const { ok, errors } = completeParams(withoutOthers(openSchema(seal, schema)), kept);
  if (ok !== undefined) return ok;
  for (const { path, message } of errors) tell(path.replace(/^params\.?/, ""), message);
  return null;
}

/** No expression may name a param that the schema does not know, so one that is given is a slip, unless the schema wants it. */
function withoutOthers(schema: JsonValue): JsonValue {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return schema;
  const isClosed = schema["properties"] !== undefined && closedKeys(schema) !== null;
  return isClosed ? { ...schema, additionalProperties: false } : schema;
}
