/**
 * One spelling for JSON-LD, which has several: `schema:name` and `https://schema.org/name` are `name`, `type` and `id`
 * are `@type` and `@id`, and the members of `{"@list": […]}` and `{"@set": […]}` are a plain list.
 */
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { isObject, type JsonObject } from "./json-ld.ts";

const VOCABULARY = /^(?:schema:|https?:\/\/(?:www\.)?schema\.org\/)(?=.)/;
/** A number of a database is no identity on the page. */
const IDENTITY = /^(?:#|\/|_:|[a-z][a-z\d+.-]*:)/i;
const MAX_DEPTH = 30;

/** Entities that are spelled plainly are returned as they are. */
export function plainEntities(entities: JsonObject[]): JsonObject[] {
  const list = plainList(entities, 0);
  return list === entities ? entities : list.filter(isObject);
}

function plain(value: JsonValue, depth: number): JsonValue {
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return value;
  return Array.isArray(value) ? plainList(value, depth) : plainObject(value, depth);
}

/** Lists in lists are one: JSON-LD has no others. */
function plainList(list: JsonValue[], depth: number): JsonValue[] {
  let changed: JsonValue[] | null = null;
  for (const [index, item] of list.entries()) {
    const other = plain(item, depth + 1);
    if (changed === null && other !== item) changed = list.slice(0, index);
    if (changed === null) continue;
    if (other !== item && Array.isArray(other)) changed.push(...other);
    else changed.push(other);
  }
  return changed ?? list;
}

function plainObject(object: JsonObject, depth: number): JsonValue {
  const members = object["@list"] ?? object["@set"] ?? null;
  if (members !== null) return plain(members, depth + 1);
  let changed: Map<string, JsonValue> | null = null;
  const entries = Object.entries(object);
  for (const [key, value] of entries) {
    const name = nameOf(key, value, object);
    const other = plain(value, depth + 1);
    if (changed === null && (name !== key || other !== value)) changed = new Map(entries);
    if (changed === null) continue;
    if (name === key) changed.set(key, other);
    else {
      changed.delete(key);
      // The plain spelling wins.
      if (!hasValue(object, name)) changed.set(name, other);
    }
  }
  return changed === null ? object : Object.fromEntries(changed);
}

function nameOf(key: string, value: JsonValue, object: JsonObject): string {
  const name = key.replace(VOCABULARY, "");
  if (name === "type" && isType(value) && !hasValue(object, "@type")) return "@type";
  const isIdentity = name === "id" && typeof value === "string" && IDENTITY.test(value);
  return isIdentity && !hasValue(object, "@id") ? "@id" : name;
}

/** Types of the vocabulary begin with a capital letter; others are of something else. */
function isType(value: JsonValue): boolean {
  const isOne = (item: JsonValue) => typeof item === "string" && /^[A-Z]/.test(item.replace(VOCABULARY, ""));
  return Array.isArray(value) ? value.length > 0 && value.every(isOne) : isOne(value);
}

function hasValue(object: JsonObject, name: string): boolean {
  return Object.hasOwn(object, name) && object[name] !== null;
}
