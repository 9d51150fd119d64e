/** Identifies and compares items: by their keys, their order among equal keys, and their values. */
import { createHash } from "node:crypto";
import { canonicalJson } from "../../base/canonical-json.ts";
import type { JsonValue } from "../lane/queue-item.ts";
import { valueAt } from "../text/value-at.ts";

type Item = Record<string, JsonValue | undefined>;

export type Differences = Record<string, { before: JsonValue; after: JsonValue }>;

/** Differ in every run, whatever the item contains. */
const OWN_IDS: ReadonlySet<string> = new Set(["artifact_id", "not_read"]);

export class Comparison {
  readonly #keys: readonly string[];
  readonly #fields: readonly string[] | null;

  constructor(keys: readonly string[], fields: readonly string[] | null) {
    this.#keys = keys;
    this.#fields = fields;
  }

  /** Names for one pass: the second item of a key differs from the first. */
  names(): (item: Item) => { name: string; isRepeated: boolean } {
    const counts = new Map<string, number>();
    return (item) => {
      const key = digest(this.#keys.map((path) => valueAt(item, path) ?? null));
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      return { name: count === 1 ? key : `${key}#${count}`, isRepeated: count > 1 };
    };
  }

  digestOf(item: Item): string {
    return digest(Object.fromEntries(this.#valuesOf(item)));
  }

  /** The part of an item that `differences` and `keyOf` need. */
  partOf(item: Item): Item {
    if (this.#fields === null) return item;
    const part: Item = {};
    const paths = new Set([...this.#keys, ...this.#fields].map((path) => path.split(".")[0] ?? ""));
    for (const name of paths) if (Object.hasOwn(item, name)) define(part, name, item[name] ?? null);
    return part;
  }

  differences(before: Item, after: Item): Differences {
    const [old, now] = [new Map(this.#valuesOf(before)), new Map(this.#valuesOf(after))];
    const found: Differences = {};
    for (const name of new Set([...(this.#fields ?? []), ...old.keys(), ...now.keys()])) {
      const [was, is] = [old.get(name) ?? null, now.get(name) ?? null];
      if (canonicalJson(was) !== canonicalJson(is)) define(found, name, { before: was, after: is });
    }
    return found;
  }

  keyOf(item: Item): JsonValue {
    const values = this.#keys.map((path) => valueAt(item, path) ?? null);
    return values.length === 1 ? (values[0] ?? null) : values;
  }

  /** By name; null equals absent. */
  #valuesOf(item: Item): [string, JsonValue][] {
    const all: [string, JsonValue | undefined][] =
      this.#fields === null
        ? Object.entries(item).filter(([name]) => !OWN_IDS.has(name))
        : this.#fields.map((path) => [path, valueAt(item, path)]);
    return all.flatMap(([name, value]) => (value === undefined || value === null ? [] : [[name, value]]));
  }
}

/** A plain assignment of `__proto__` would set the prototype. */
function define(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: true, writable: true, configurable: true });
}

function digest(value: JsonValue): string {
  return createHash("sha256").update(canonicalJson(value)).digest("base64").slice(0, 24);
}
