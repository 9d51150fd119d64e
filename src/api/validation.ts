/**
 * Requests are checked against the very schemas that the API documents. Bodies are taken as they are; only what stands
 * in an address is text that has to be turned into numbers first.
 */
import type { ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { FastifySchemaCompiler } from "fastify";
import type { TSchema } from "typebox";
import { OrbError } from "../base/errors.ts";
import { fieldErrors } from "../domain/schema-faults.ts";

const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  uuid: (text) => /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text),
  "date-time": (text) =>
    /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/.test(text) && !Number.isNaN(Date.parse(text)),
  uri: (text) => URL.canParse(text),
};

/** A checker with the formats of our schemas; `all` finds every mistake instead of the first. */
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
    // The schemas are our own, and a test holds them to the rules of schemas: every start would pay 150 ms for that.
    meta: false,
    validateSchema: false,
    // A third of the time of compiling; what is compiled checks a few values.
    code: { optimize: false },
  });
  return ajv;
}

/** Larger values are judged by their first mistake alone: a million mistakes would take a gigabyte to tell. */
const MOST_VALUES = 2000;

/** Compiles a schema when a value of it comes first, and once for all servers of a process, which have the same. */
class Compiled {
  readonly #options: { all: boolean; coerce: boolean };
  readonly #made = new Map<string, ValidateFunction>();
  #checker: Ajv2020 | null = null;

  constructor(options: { all: boolean; coerce: boolean }) {
    this.#options = options;
  }

  of(schema: TSchema): ValidateFunction {
    const text = JSON.stringify(schema);
    let made = this.#made.get(text);
    if (made === undefined) {
      made = (this.#checker ??= createChecker(this.#options)).compile(schema);
      this.#made.set(text, made);
    }
    return made;
  }
}

const compiledFor = (coerce: boolean) => ({
  first: new Compiled({ all: false, coerce }),
  all: new Compiled({ all: true, coerce }),
});
const BODIES = compiledFor(false);
const ADDRESSES = compiledFor(true);

/** The compiler that the web framework asks for each part of each route. */
export function createValidatorCompiler(): FastifySchemaCompiler<TSchema> {
  return ({ schema, httpPart }) => {
    const isBody = httpPart === "body";
    const compiled = isBody ? BODIES : ADDRESSES;
    // Compiled when first needed: a command makes a single call, and the compiling of all routes takes half a second.
    let quick: ValidateFunction | null = null;
    let thorough: ValidateFunction | null = null;
    const where = isBody ? "" : `${PART_NAMES[httpPart ?? ""] ?? httpPart}.`;
    return (value: unknown) => {
      quick ??= compiled.first.of(schema);
      if (quick(value)) return { value };
      let check = quick;
      if (countValues(value, MOST_VALUES) < MOST_VALUES) {
        check = thorough ??= compiled.all.of(schema);
        check(value);
      }
      const fields = fieldErrors(check.errors ?? [], value, where);
      const list = fields.slice(0, 5).map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
      const more = fields.length > list.length ? `; and ${fields.length - list.length} more` : "";
      const what = isBody ? "the body cannot be used" : "the call cannot be used";
      return { error: new OrbError("input_invalid", `${what}: ${list.join("; ")}${more}`, { fields }) };
    };
  };
}

const PART_NAMES: Readonly<Record<string, string>> = { querystring: "query", params: "path", headers: "header" };

/** How many values there are in it, up to a limit. */
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
