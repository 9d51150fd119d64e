/**
 * Validates queue items. The same rules apply to a line of an imported file, to the command line and to the API; all
 * errors of an item are reported at once, each with its field.
 */
import { type FieldError, messageOf } from "../../base/errors.ts";
import { suggest } from "../text/suggest.ts";
import { fetchUrl } from "../text/url.ts";

export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };

export interface QueueItem {
  /** The user's id; unique in the queue. */
  artifactId: string;
  /** As it will be fetched: WHATWG form without fragment. */
  url: string;
  /** The concurrency limit that it shares with other items, on any site. */
  concurrencyKey: string | null;
  /** Higher goes first. */
  priority: number;
  payload: JsonValue;
  /** Name of a handler of the APP_HANDLERS module; null is the built-in download. */
  handler: string | null;
}

export type Parsed<T> = { ok: T; errors?: undefined } | { ok?: undefined; errors: FieldError[] };

export const QUEUE_ITEM_LIMITS = {
  artifactIdLength: 512,
  urlLength: 8192,
  nameLength: 128,
  priority: 1000,
  payloadBytes: 64 * 1024,
  payloadDepth: 32,
  /** Longer lines are rejected before parsing: the largest valid item is well below. */
  lineLength: 1024 * 1024,
} as const;

/** `resolver` is an alias of `concurrency_key`. */
const KEYS = ["artifact_id", "url", "concurrency_key", "resolver", "priority", "payload", "handler"] as const;
const NAME = /^[A-Za-z0-9_.:-]+$/;
// C0, DEL, C1 and the two Unicode line ends: they break logs, tables and line-based exports.
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

export function parseQueueItem(value: unknown): Parsed<QueueItem> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { errors: [{ path: "", message: `expected an object with artifact_id and url, got ${nameOfType(value)}` }] };
  }
  const errors: FieldError[] = [];
  const entries = new Map(Object.entries(value));
  for (const key of entries.keys()) {
    if ((KEYS as readonly string[]).includes(key)) continue;
    const near = suggest(key, KEYS);
    errors.push({ path: key, message: `unknown key${near === undefined ? "" : `, did you mean "${near}"?`}` });
  }
  const read = <T>(key: (typeof KEYS)[number], parse: (value: unknown) => T): T | undefined => {
    try {
      return parse(entries.get(key));
    } catch (error) {
      errors.push({ path: key, message: messageOf(error) });
      return undefined;
    }
  };
  const artifactId = read("artifact_id", parseArtifactId);
  const url = read("url", parseUrl);
  const concurrencyKey = read("concurrency_key", parseName);
  const alias = read("resolver", parseName);
  if (typeof concurrencyKey === "string" && typeof alias === "string" && concurrencyKey !== alias) {
    const message = `differs from concurrency_key, of which it is an alias: "${alias}" and "${concurrencyKey}"; set only one of them`;
    errors.push({ path: "resolver", message });
  }
  const priority = read("priority", parsePriority);
  const payload = read("payload", parsePayload);
  const handler = read("handler", parseName);
  if (errors.length > 0) return { errors };
  const item = { artifactId, url, concurrencyKey: concurrencyKey ?? alias, priority, payload, handler };
  return { ok: item as QueueItem };
}

/** One line of a JSONL file. The caller counts lines and skips blank ones. */
export function parseQueueLine(line: string): Parsed<QueueItem> {
  if (line.length > QUEUE_ITEM_LIMITS.lineLength) {
    return { errors: [{ path: "", message: `the line has ${line.length} characters, at most 1048576 are allowed` }] };
  }
  let value: unknown;
  try {
    value = JSON.parse(line.replace(/^\uFEFF/, ""));
  } catch (error) {
    return { errors: [{ path: "", message: `not JSON: ${messageOf(error)}` }] };
  }
  return parseQueueItem(value);
}

function parseArtifactId(value: unknown): string {
  if (value === undefined) throw new Error("is required");
  if (typeof value !== "string") throw new Error(`expected a string, got ${nameOfType(value)}`);
  if (value.trim() === "") throw new Error("must not be empty");
  if (value.length > QUEUE_ITEM_LIMITS.artifactIdLength) {
    throw new Error(`is ${value.length} characters long, at most ${QUEUE_ITEM_LIMITS.artifactIdLength} are allowed`);
  }
  if (CONTROL.test(value)) throw new Error("must not contain control characters");
  // A lone surrogate cannot be written as UTF-8: two such ids would become one in the database.
  if (!value.isWellFormed()) throw new Error("must be well-formed Unicode");
  return value;
}

function parseUrl(value: unknown): string {
  if (value === undefined) throw new Error("is required");
  if (typeof value !== "string") throw new Error(`expected a string, got ${nameOfType(value)}`);
  const url = value.length <= QUEUE_ITEM_LIMITS.urlLength ? fetchUrl(value) : null;
  if (value.length > QUEUE_ITEM_LIMITS.urlLength || (url?.length ?? 0) > QUEUE_ITEM_LIMITS.urlLength) {
    throw new Error(`is longer than ${QUEUE_ITEM_LIMITS.urlLength} characters`);
  }
  if (url === null) throw new Error("expected an absolute http or https URL");
  if (!url.startsWith("http:") && !url.startsWith("https:")) {
    throw new Error(`expected an http or https URL, got ${url.slice(0, url.indexOf(":") + 1)}`);
  }
  return url;
}

function parseName(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== "string") throw new Error(`expected a string, got ${nameOfType(value)}`);
  if (value.length > QUEUE_ITEM_LIMITS.nameLength || !NAME.test(value)) {
    throw new Error(`expected 1 to ${QUEUE_ITEM_LIMITS.nameLength} letters, digits and _ . : -`);
  }
  return value;
}

function parsePriority(value: unknown): number {
  if (value === undefined || value === null) return 0;
  const { priority: limit } = QUEUE_ITEM_LIMITS;
  if (typeof value !== "number" || !Number.isInteger(value) || Math.abs(value) > limit) {
    throw new Error(`expected a whole number from -${limit} to ${limit}`);
  }
  // JSON has no -0.
  return value + 0;
}

function parsePayload(value: unknown): JsonValue {
  if (value === undefined) return null;
  assertJson(value, QUEUE_ITEM_LIMITS.payloadDepth, { left: QUEUE_ITEM_LIMITS.payloadBytes });
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (bytes > QUEUE_ITEM_LIMITS.payloadBytes) {
    throw new Error(`has ${bytes} bytes as JSON, at most ${QUEUE_ITEM_LIMITS.payloadBytes} are allowed`);
  }
  return value;
}

/**
 * Bounded in depth and, as each value takes at least a byte, in number: so it terminates for cyclic values, and
 * JSON.stringify never sees one.
 */
function assertJson(value: unknown, depth: number, values: { left: number }): asserts value is JsonValue {
  values.left -= 1;
  if (values.left < 0) throw new Error(`has more than ${QUEUE_ITEM_LIMITS.payloadBytes} bytes as JSON`);
  if (value === null || typeof value === "string" || typeof value === "boolean") return;
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new Error(`must be JSON, got ${value}`);
    return;
  }
  if (typeof value !== "object") throw new Error(`must be JSON, got ${nameOfType(value)}`);
  if (depth === 0) throw new Error(`is nested more than ${QUEUE_ITEM_LIMITS.payloadDepth} levels deep`);
  if (Array.isArray(value)) {
    for (const element of value) assertJson(element, depth - 1, values);
    return;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) throw new Error("must be JSON, got an object of a class");
  for (const [key, element] of Object.entries(value)) {
    if (key === "__proto__") throw new Error('must not contain the key "__proto__"');
    assertJson(element, depth - 1, values);
  }
}

function nameOfType(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (value === undefined) return "nothing";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
