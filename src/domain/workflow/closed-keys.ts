import type { JsonValue } from "../lane/queue-item.ts";

/** The names that an object of this schema can have, where the schema says that it has no others; null: not known. */
export function closedKeys(schema: Readonly<Record<string, JsonValue>>): readonly string[] | null {
  const open = ["patternProperties", "unevaluatedProperties", "$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if"];
  const others = schema["additionalProperties"];
  if ((others !== undefined && others !== false) || open.some((key) => Object.hasOwn(schema, key))) return null;
  const named = schema["properties"];
  return typeof named === "object" && named !== null ? Object.keys(named) : [];
}
