import type { JsonValue } from "../lane/queue-item.ts";

/** The value at a path such as `url` or `fields.price`; undefined: none. A numeric segment is a list index. */
export function valueAt(item: Readonly<Record<string, JsonValue | undefined>>, path: string): JsonValue | undefined {
  let value: JsonValue | undefined = item as JsonValue;
  for (const key of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, JsonValue>)[key];
  }
  return value;
}
