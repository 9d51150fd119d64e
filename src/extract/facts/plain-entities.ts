/**
 * One spelling for JSON-LD, which has several: `schema:name` and `https://schema.org/name` are `name`, `type` and `id`
 * are `@type` and `@id`, and the members of `{"@list": […]}` and `{"@set": […]}` are a plain list.
 */
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import type { JsonObject } from "./json-ld.ts";

const VOCABULARY = /^(?:schema:|https?:\/\/schema\.org\/)(?=.)/;
const ALIASES: ReadonlyMap<string, string> = new Map([
  ["id", "@id"],
  ["type", "@type"],
]);
const MAX_DEPTH = 30;

/** Entities that are spelled plainly are returned as they are. */
export function plainEntities(entities: JsonObject[]): JsonObject[] {
  return plainList(entities, 0) as JsonObject[];
}

function plain(value: JsonValue, depth: number): JsonValue {
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return value;
  return Array.isArray(value) ? plainList(value, depth) : plainObject(value, depth);
}

function plainList(list: JsonValue[], depth: number): JsonValue[] {
  let changed: JsonValue[] | null = null;
  for (const [index, item] of list.entries()) {
    const other = plain(item, depth + 1);
    if (other !== item) (changed ??= [...list])[index] = other;
  }
  return changed ?? list;
}

function plainObject(object: JsonObject, depth: number): JsonValue {
  const members = object["@list"] ?? object["@set"];
  if (members !== undefined) return plain(members, depth);
  let changed: Map<string, JsonValue> | null = null;
  const entries = Object.entries(object);
  for (const [key, value] of entries) {
    const name = nameOf(key, object);
    const other = plain(value, depth + 1);
    if (changed === null && (name !== key || other !== value)) changed = new Map(entries);
    if (changed === null) continue;
    if (name === key) changed.set(key, other);
    else {
      changed.delete(key);
      // The plain spelling wins.
      if (!Object.hasOwn(object, name)) changed.set(name, other);
    }
  }
  return changed === null ? object : Object.fromEntries(changed);
}

function nameOf(key: string, object: JsonObject): string {
  const name = key.replace(VOCABULARY, "");
  const keyword = ALIASES.get(name);
  return keyword === undefined || Object.hasOwn(object, keyword) ? name : keyword;
}
