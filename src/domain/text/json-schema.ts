/**
 * JSON Schema 2020-12 as users write it. References stay within the schema, its patterns run on the linear engine, and
 * what could take long is watched.
 */
import type { ErrorObject, ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { messageOf } from "../../base/errors.ts";
import { withTimeLimit } from "../../base/time-limit.ts";
import { compileRegex } from "./regex.ts";

export class SchemaError extends Error {
  readonly path: string;

  constructor(path: string, message: string) {
    super(message);
    this.path = path;
  }
}

/** Every mistake of a value; none when it is valid. */
export type SchemaCheck = (value: unknown) => readonly ErrorObject[];

const MAX_CHARS = 64 * 1024;
const MAX_DEPTH = 50;

const FORMATS: Record<string, (text: string) => boolean> = {
  date: (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && isDay(text),
  "date-time": (text) =>
    /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}/i.test(text) &&
    isDay(text.slice(0, 10)) &&
    !Number.isNaN(Date.parse(text)),
  time: (text) => /^([01]\d|2[0-3]):[0-5]\d:[0-5]\d/.test(text),
  uri: (text) => /^[a-z][a-z0-9+.-]*:/i.test(text) && URL.canParse(text),
  email: (text) => text.length < 321 && /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$/.test(text),
  uuid: (text) => /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text),
  ipv4: (text) => /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/.test(text),
};

/** The 30th of February would become the 1st of March. */
function isDay(text: string): boolean {
  const time = Date.parse(text);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** Validates schemas. Shared: compiling the meta-schema takes ten times as long as compiling a schema. */
let metaValidator: Ajv2020 | null = null;

function sharedMetaValidator(): Ajv2020 {
  if (metaValidator !== null) return metaValidator;
  metaValidator = new Ajv2020({ strict: false, logger: false });
  // Compiles the meta-schema now, outside of the time limit of the first schema.
  metaValidator.validateSchema({});
  return metaValidator;
}

function assertIsSchema(schema: object | boolean, by: Ajv2020): void {
  if (by.validateSchema(schema) === true) return;
  // It also reports every branch that does not fit; the first error is the relevant one.
  const [first] = by.errors ?? [];
  throw new Error(`is not a JSON Schema: ${first?.instancePath ?? ""} ${first?.message ?? ""}`.trimEnd());
}

/** Throws a SchemaError with the path of what is wrong. With `defaults`, checking a value fills them in. */
export function compileJsonSchema(schema: unknown, options: { defaults: boolean }): SchemaCheck {
  if (typeof schema !== "boolean" && (typeof schema !== "object" || schema === null || Array.isArray(schema))) {
    throw new SchemaError("", "expected a JSON Schema: an object, true or false");
  }
  const shape = inspect(schema, "", 0);
  if (JSON.stringify(schema).length > MAX_CHARS) throw new SchemaError("", `is longer than ${MAX_CHARS} characters`);
  // Ajv caches patterns by their text: without `toString` all of them would be one.
  const engine = (pattern: string) => ({ ...compileRegex(pattern), toString: () => pattern });
  const regExp = Object.assign(engine, { code: "" });
  let validate: ValidateFunction;
  try {
    const by = sharedMetaValidator();
    validate = withTimeLimit(() => {
      assertIsSchema(schema, by);
      // A new instance each time: one that was interrupted is unusable.
      return newAjv(options.defaults, regExp).compile(schema);
    });
  } catch (error) {
    throw new SchemaError("", messageOf(error));
  }
  return (value) => {
    // Without references and comparisons of everything with everything, the time is bounded by the sizes.
    const valid = shape.watched ? withTimeLimit(() => validate(value)) : validate(value);
    return valid ? [] : (validate.errors ?? []);
  };
}

function newAjv(useDefaults: boolean, regExp: unknown): Ajv2020 {
  const ajv = new Ajv2020({
    allErrors: true,
    strict: false,
    meta: false,
    validateSchema: false,
    verbose: true,
    useDefaults,
    logger: false,
    code: { regExp: regExp as never },
  });
  for (const [name, check] of Object.entries(FORMATS)) ajv.addFormat(name, check);
  return ajv;
}

/** Refuses what would lead out of the schema, and says whether checking it can take long. */
function inspect(value: unknown, path: string, depth: number): { watched: boolean } {
  if (typeof value !== "object" || value === null) return { watched: false };
  if (depth > MAX_DEPTH) throw new SchemaError(path, `is nested more than ${MAX_DEPTH} levels deep`);
  let watched = false;
  for (const [key, inner] of Object.entries(value)) {
    const at = `${path}.${key}`;
    if (key === "__proto__") throw new SchemaError(at, "is not allowed");
    if ((key === "$ref" || key === "$dynamicRef") && typeof inner === "string" && !inner.startsWith("#")) {
      throw new SchemaError(at, "must point into this schema: #/…");
    }
    if (key === "$schema" && inner !== "https://json-schema.org/draft/2020-12/schema") {
      throw new SchemaError(at, "only https://json-schema.org/draft/2020-12/schema is supported");
    }
    if (key === "$id" && depth > 0 && typeof inner === "string")
      throw new SchemaError(at, "only the root may have one");
    if (key === "$ref" || key === "$dynamicRef" || key === "uniqueItems") watched = true;
    if (inspect(inner, at, depth + 1).watched) watched = true;
  }
  return { watched };
}
