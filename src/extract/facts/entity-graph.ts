/**
 * The entities of a page and the references between them: `{"@id": "#author"}` refers to the entity with that id, in any
 * block. References are followed one step at a time, on demand, so cycles are harmless.
 */
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { isObject, type JsonObject, listOf } from "./json-ld.ts";

const MAX_NODES = 20_000;
const MAX_DEPTH = 30;
/** Several descriptions of one id are merged; more than this are an attack. */
const MAX_PARTS = 20;
const REFERENCE_KEYS: ReadonlySet<string> = new Set(["@id", "@type", "@context"]);

export class EntityGraph {
  readonly entities: readonly JsonObject[];
  readonly #base: string | null;
  readonly #parts = new Map<string, JsonObject[]>();
  readonly #joined = new Map<string, JsonObject>();
  /** The index by id is built on the first reference. */
  #indexed = false;

  constructor(entities: readonly JsonObject[], base: string | null) {
    this.entities = entities;
    this.#base = base;
  }

  /** Resolves a reference; undefined: dangling. Other values are returned unchanged. */
  follow(value: JsonValue | undefined): JsonValue | undefined {
    if (!isObject(value)) return value;
    const id = value["@id"];
    if (typeof id !== "string") return value;
    const found = this.byId(id);
    if (isReference(value)) return found;
    return found === undefined || found === value ? value : { ...found, ...value };
  }

  byId(id: string): JsonObject | undefined {
    if (!this.#indexed) this.#index();
    const key = this.#keyOf(id);
    const parts = this.#parts.get(key);
    if (parts === undefined) return undefined;
    if (parts.length === 1) return parts[0];
    let joined = this.#joined.get(key);
    if (joined === undefined) {
      joined = Object.assign({}, ...parts.toReversed()) as JsonObject;
      this.#joined.set(key, joined);
    }
    return joined;
  }

  /** All values under a path like `offers.price`, through lists and references, in order. */
  valuesAt(value: JsonValue | undefined, path: string): JsonValue[] {
    let current = [this.follow(value)];
    for (const key of path.split(".")) {
      const next: JsonValue[] = [];
      for (const holder of current) {
        if (!isObject(holder) || !Object.hasOwn(holder, key)) continue;
        for (const item of listOf(holder[key])) {
          const found = this.follow(item);
          if (found !== undefined && found !== null && next.length < 1000) next.push(found);
        }
      }
      current = next;
    }
    return current as JsonValue[];
  }

  /** Absolute; null: not a web URL, such as `_:b0`. */
  resolve(address: string): string | null {
    const url = URL.parse(address.trim(), this.#base ?? undefined);
    return url !== null && /^https?:$/.test(url.protocol) && !address.startsWith("_:") ? url.href : null;
  }

  #keyOf(id: string): string {
    return this.resolve(id) ?? id;
  }

  #index(): void {
    this.#indexed = true;
    const open: [JsonValue, number][] = this.entities.map((entity) => [entity, 0] as [JsonValue, number]).toReversed();
    for (let count = 0; open.length > 0 && count < MAX_NODES; count += 1) {
      const [value, depth] = open.pop() as [JsonValue, number];
      if (typeof value !== "object" || value === null) continue;
      if (isObject(value)) this.#add(value);
      if (depth >= MAX_DEPTH) continue;
      const inside = Array.isArray(value) ? value : Object.values(value);
      for (let at = Math.min(inside.length, MAX_NODES) - 1; at >= 0; at -= 1) {
        const item = inside[at];
        if (typeof item === "object" && item !== null) open.push([item, depth + 1]);
      }
    }
  }

  #add(entity: JsonObject): void {
    const id = entity["@id"];
    if (typeof id !== "string" || id === "" || isReference(entity)) return;
    const key = this.#keyOf(id);
    const parts = this.#parts.get(key);
    if (parts === undefined) this.#parts.set(key, [entity]);
    else if (parts.length < MAX_PARTS) parts.push(entity);
  }
}

/** Has an id and no properties. */
export function isReference(value: JsonObject): boolean {
  if (typeof value["@id"] !== "string") return false;
  for (const key in value) if (!REFERENCE_KEYS.has(key)) return false;
  return true;
}
