import type { JsonValue } from "../../domain/queue-item.ts";
import { closedKeys } from "../../domain/workflow/closed-keys.ts";
import { completeParams } from "../../domain/workflow/params-check.ts";

type Params = Readonly<Record<string, JsonValue>>;

/** What a workflow is started with, with the schema's defaults for what is not given; null: something is wrong, and was told. */
export function filledParams(
  schema: JsonValue | null,
  given: Params,
  tell: (path: string, message: string) => void,
): Params | null {
  if (schema === null) {
    for (const name of Object.keys(given))
      tell(name, "the definition asks for no params: declare it there, or leave it out");
    return Object.keys(given).length === 0 ? {} : null;
  }
  const { ok, errors } = completeParams(withoutOthers(schema), given);
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
