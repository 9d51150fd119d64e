/** Copies any input to plain JSON of bounded size, so that later code can trust it. */
import type { JsonValue } from "../lane/queue-item.ts";
import type { Faults } from "./faults.ts";

export const DEFINITION_LIMITS = { characters: 1024 * 1024, values: 50_000, depth: 50 } as const;

/** A copy; keys that are undefined are left out, as JSON does. undefined: it is too large to be looked at. */
export function plainJson(value: unknown, faults: Faults): JsonValue | undefined {
  const left = { values: DEFINITION_LIMITS.values as number, characters: DEFINITION_LIMITS.characters as number };
  const copy = (current: unknown, path: string, depth: number): JsonValue => {
    left.values -= 1;
    if (left.values < 0) throw new TooLarge(`has more than ${DEFINITION_LIMITS.values} values`);
    if (current === null || typeof current === "boolean") return current;
    if (typeof current === "string") return spend(current);
    if (typeof current === "number" && Number.isFinite(current)) return current + 0;
    if (typeof current !== "object") {
      faults.add(path, `is not JSON: ${typeof current === "number" ? String(current) : typeof current}`);
      return null;
    }
    if (depth >= DEFINITION_LIMITS.depth)
      throw new TooLarge(`is nested more than ${DEFINITION_LIMITS.depth} levels deep`);
    if (Array.isArray(current)) return current.map((entry, index) => copy(entry, `${path}[${index}]`, depth + 1));
    const prototype: unknown = Object.getPrototypeOf(current);
    if (prototype !== null && prototype !== Object.prototype) {
      faults.add(path, "is not JSON: an object of a class");
      return null;
    }
    const entries: [string, JsonValue][] = [];
    for (const [key, inner] of Object.entries(current)) {
      if (inner === undefined) continue;
      const at = path === "" ? spend(key) : `${path}.${spend(key)}`;
      if (key === "__proto__") faults.add(at, "is not allowed as a key");
      else entries.push([key, copy(inner, at, depth + 1)]);
    }
    return Object.fromEntries(entries);
  };
  const spend = (text: string): string => {
    left.characters -= text.length;
    if (left.characters < 0) throw new TooLarge(`has more than ${DEFINITION_LIMITS.characters} characters`);
    return text;
  };
  try {
    return copy(value, "", 0);
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error;
    faults.add("", `the definition ${error.message}`);
    return undefined;
  }
}

class TooLarge extends Error {}
