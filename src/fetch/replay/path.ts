/**
 * Paths in JSON: a subset of JSONPath (RFC 9535) with names, indices, slices and wildcards. They are evaluated on the
 * main thread, so features with superlinear cost (`..` and filters) are not supported.
 */
import { JSONPathEnvironment, jsonpath } from "json-p3";
import type { JsonValue } from "../../domain/lane/queue-item.ts";

export interface Path {
  readonly text: string;
  all(value: JsonValue): JsonValue[];
  first(value: JsonValue): JsonValue | undefined;
}

const MAX_LENGTH = 1000;
const environment = new JSONPathEnvironment();

/** Throws an Error whose message completes "the path …". */
export function compilePath(text: string): Path {
  if (text.length > MAX_LENGTH) throw new Error(`is longer than ${MAX_LENGTH} characters`);
  const query = environment.compile(text);
  for (const segment of query.segments) {
    if (segment.toString().startsWith(".."))
      throw new Error('must not contain "..": use a path from the root, such as $.a.b[*]');
    if (segment.selectors.some((selector) => selector instanceof jsonpath.selectors.FilterSelector)) {
      throw new Error("must not contain a filter: select all items, and exclude some with required fields or a schema");
    }
    // Several selectors in a segment multiply the matches of the previous ones.
    if (segment.selectors.length > 1) throw new Error("must select one name or index per segment");
  }
  return {
    text,
    all: (value) => Array.from(query.lazyQuery(value as never), (node) => node.value as JsonValue),
    first: (value) => query.match(value as never)?.value as JsonValue | undefined,
  };
}

/** `$.data.items`, with brackets where a name is not an identifier. `wildcard` is written as `[*]`. */
export function writePath(names: readonly string[], wildcard?: string): string {
  const parts = names.map((name) => {
    if (name === wildcard) return "[*]";
    return /^[A-Za-z_]\w*$/.test(name) ? `.${name}` : `['${name.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}']`;
  });
  return `$${parts.join("")}`;
}

/** Parses a JSON Pointer (RFC 6901) to its names. Throws when invalid. */
export function readPointer(text: string): string[] {
  if (!text.startsWith("/")) throw new Error('expected a JSON Pointer such as "/variables/page"');
  if (text.length > MAX_LENGTH) throw new Error(`is longer than ${MAX_LENGTH} characters`);
  const names = text
    .slice(1)
    .split("/")
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
  if (names.includes("__proto__")) throw new Error('must not contain "__proto__"');
  return names;
}

export function writePointer(names: readonly string[]): string {
  return names.map((name) => `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

export function valueAt(value: JsonValue, names: readonly string[]): JsonValue | undefined {
  let current: JsonValue | undefined = value;
  for (const name of names) {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, name)) return undefined;
    current = (current as Record<string, JsonValue>)[name];
  }
  return current;
}

/** A copy with another value at this path; the rest is shared. Undefined removes it. */
export function withValueAt(value: JsonValue, names: readonly string[], next: JsonValue | undefined): JsonValue {
  const [name, ...rest] = names;
  if (name === undefined) return next ?? null;
  if (typeof value !== "object" || value === null) return value;
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, JsonValue>;
  // In a list, removal leaves null, so that other indices stay.
  if (rest.length === 0 && next === undefined && !Array.isArray(value)) delete copy[name];
  else copy[name] = rest.length === 0 ? (next ?? null) : withValueAt(copy[name] ?? null, rest, next);
  return copy as JsonValue;
}
