/**
 * Validates requests against the documented schemas. Bodies are not coerced; only parameters in a URL, which are text,
 * become numbers.
 */
import type { ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { FastifySchemaCompiler } from "fastify";
import type { TSchema } from "typebox";
import { type FieldError, isOrbError, OrbError } from "../base/errors.ts";
import { fieldErrors } from "../domain/text/schema-faults.ts";

/** Throws errors of those body fields that match the schema; `refused` are the names of the others. */
export type BodyRules = (body: Readonly<Record<string, unknown>>, refused: ReadonlySet<string>) => void;

const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  uuid: (text) => /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text),
  "date-time": (text) =>
    /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/.test(text) && !Number.isNaN(Date.parse(text)),
  uri: (text) => URL.canParse(text),
};

/** A validator with the formats of our schemas; `all` finds every error instead of the first. */
export function createChecker(options: { all: boolean; coerce: boolean }): Ajv2020 {
  const ajv = new Ajv2020({
    allErrors: options.all,
    coerceTypes: options.coerce,
    removeAdditional: false,
    useDefaults: true,
    strict: true,
    strictTypes: false,
    verbose: options.all,
    logger: false,
    formats: FORMATS,
    // A test validates our schemas against the meta schema: doing it at every start would take 150 ms.
    meta: false,
    validateSchema: false,
    // Optimising takes a third of the compile time, and a compiled schema validates only a few values.
    code: { optimize: false },
  });
  return ajv;
}

/** Larger values stop at the first error: a million errors would take a gigabyte to report. */
const MOST_VALUES = 2000;

/** Compiles a schema on first use, once for all servers of a process. */
class Compiled {
  readonly #options: { all: boolean; coerce: boolean };
  readonly #compiled = new Map<string, ValidateFunction>();
  #checker: Ajv2020 | null = null;

  constructor(options: { all: boolean; coerce: boolean }) {
    this.#options = options;
  }

  of(schema: TSchema): ValidateFunction {
    const text = JSON.stringify(schema);
    let validate = this.#compiled.get(text);
    if (validate === undefined) {
      validate = (this.#checker ??= createChecker(this.#options)).compile(schema);
      this.#compiled.set(text, validate);
    }
    return validate;
  }
}

const compiledFor = (coerce: boolean) => ({
  first: new Compiled({ all: false, coerce }),
  all: new Compiled({ all: true, coerce }),
});
const BODIES = compiledFor(false);
const ADDRESSES = compiledFor(true);

/** The validator compiler for each part of each route. */
export function createValidatorCompiler(): FastifySchemaCompiler<TSchema> {
  return ({ schema, httpPart }) => {
    const isBody = httpPart === "body";
    const compiled = isBody ? BODIES : ADDRESSES;
    // Compiled on first use: a command makes a single call, and compiling all routes takes half a second.
    let quick: ValidateFunction | null = null;
    let thorough: ValidateFunction | null = null;
    const where = isBody ? "" : `${PART_NAMES[httpPart ?? ""] ?? httpPart}.`;
    return (value: unknown) => {
      quick ??= compiled.first.of(schema);
      if (quick(value)) return { value };
      let check = quick;
      const isWhole = countValues(value, MOST_VALUES) < MOST_VALUES;
      if (isWhole) {
        check = thorough ??= compiled.all.of(schema);
        check(value);
      }
      const fields = fieldErrors(check.errors ?? [], value, where);
      return { error: isBody ? refusedBody(fields, isWhole) : refused("invalid request", fields) };
    };
  };
}

const TOLD_AT_ONCE = 5;

function refused(what: string, fields: readonly FieldError[]): OrbError {
  const list = fields
    .slice(0, TOLD_AT_ONCE)
    .map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
  const more = fields.length > list.length ? `; and ${fields.length - list.length} more` : "";
  return new OrbError("input_invalid", `${what}: ${list.join("; ")}${more}`, { fields });
}

/** Bodies whose schema errors are complete, so that the remaining fields can be checked. */
const FULLY_JUDGED = new WeakSet<OrbError>();

function refusedBody(fields: readonly FieldError[], isWhole: boolean): OrbError {
  const error = refused("invalid body", fields);
  if (isWhole) FULLY_JUDGED.add(error);
  return error;
}

/** The body field that a path starts with. */
const nameIn = (path: string) => /^[^.[]*/.exec(path)?.[0] ?? "";

/**
 * A body that fails its schema may also break rules that a schema cannot express. `rules` throws the errors of the
 * remaining fields, so that one response lists all errors.
 */
export function withRules(error: unknown, body: unknown, rules: BodyRules | undefined): unknown {
  if (rules === undefined || !isOrbError(error) || !FULLY_JUDGED.has(error)) return error;
  if (typeof body !== "object" || body === null || Array.isArray(body)) return error;
  const names = new Set(error.fields.map(({ path }) => nameIn(path)));
  // An error of the body as a whole leaves no field to check.
  if (names.has("")) return error;
  try {
    rules(Object.fromEntries(Object.entries(body).filter(([name]) => !names.has(name))), names);
    return error;
  } catch (broken) {
    // Without the rejected fields a rule may not apply.
    const more = isOrbError(broken) ? broken.fields.filter(({ path }) => !names.has(nameIn(path))) : [];
    return more.length === 0 ? error : refusedBody([...error.fields, ...more], false);
  }
}

const PART_NAMES: Readonly<Record<string, string>> = { querystring: "query", params: "path", headers: "header" };

/** Number of values in it, up to a limit. */
function countValues(value: unknown, limit: number): number {
  const stack = [value];
  let count = 0;
  for (let next = stack.pop(); count < limit && (next !== undefined || stack.length > 0); next = stack.pop()) {
    count += 1;
    if (typeof next !== "object" || next === null) continue;
    const inner: unknown[] = Object.values(next);
    if (inner.length > limit) return limit;
    stack.push(...inner);
  }
  return count;
}
