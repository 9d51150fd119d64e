/** What `/openapi.json` promises, read back as operations that can be called and answers that can be checked. */
import type { ValidateFunction } from "ajv";
import fc from "../../support/properties.ts";
import { createChecker } from "../../../src/api/validation.ts";
import { allowed, nearlyAllowed, type Schema } from "./from-schema.ts";
import { NAUGHTY_BODIES, NAUGHTY_PATHS, NAUGHTY_TEXTS } from "./naughty.ts";

interface Media {
  schema?: Schema;
}

interface Parameter {
  name: string;
  in: "path" | "query" | "header" | "cookie";
  required?: boolean;
  schema: Schema;
}

interface RawOperation {
  operationId?: string;
  parameters?: Parameter[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, { content?: Record<string, Media> }>;
}

export interface Description {
  paths: Record<string, Record<string, RawOperation>>;
  components?: { schemas?: Record<string, Schema> };
}

export interface Operation {
  name: string;
  method: string;
  template: string;
  parameters: Parameter[];
  body: Schema | null;
  /** By status, then by media type; null: no body is promised. */
  answers: Map<number, Map<string, Check> | null>;
}

/** Whether a value is as promised; if not, `errors` says why. */
export interface Check {
  (value: unknown): boolean;
  errors: ValidateFunction["errors"];
}

/** Compiled when first needed: most of what is promised, such as a full disk, never comes. */
function checkedBy(compile: () => ValidateFunction): Check {
  let compiled: ValidateFunction | null = null;
  const check: Check = (value) => {
    compiled ??= compile();
    const isGood = compiled(value);
    check.errors = compiled.errors;
    return isGood;
  };
  check.errors = null;
  return check;
}

export interface FuzzRequest {
  method: string;
  /** The address; `{known:runs:N}` stands for one of the ids of runs that answers have named so far. */
  path: string;
  headers: Record<string, string>;
  body: string | Buffer | null;
}

export function operationsOf(description: Description): Operation[] {
  const checker = createChecker({ all: false, coerce: false });
  const resolve = <T>(value: T): T => inlineRefs(value, description.components?.schemas ?? {}) as T;
  const operations = Object.entries(description.paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, raw]) => {
      const answers = Object.entries(raw.responses).map(([status, { content }]) => {
        const kinds = Object.entries(content ?? {}).map(
          ([type, { schema = {} }]) => [mediaType(type), checkedBy(() => checker.compile(resolve(schema)))] as const,
        );
        return [Number(status), content === undefined ? null : new Map(kinds)] as const;
      });
      return {
        name: raw.operationId ?? `${method} ${template}`,
        method: method.toUpperCase(),
        template,
        parameters: resolve(raw.parameters ?? []),
        body: resolve(Object.values(raw.requestBody?.content ?? {})[0]?.schema ?? null),
        answers: new Map(answers),
      };
    }),
  );
  // First what makes things and lists them, then what changes them, at last what removes them.
  const order = ({ method, template }: Operation) => (method === "DELETE" ? 10 : template.split("{").length);
  return operations.toSorted((a, b) => order(a) - order(b));
}

/** What kind of thing an address is about: its last part that is no parameter. */
export function kindOf(template: string): string {
  return template.split("/").findLast((part) => part !== "" && !part.startsWith("{")) ?? "";
}

/** Without `charset` and the like. */
export function mediaType(header: string): string {
  return header.split(";")[0]?.trim().toLowerCase() ?? "";
}

/** The description names shared schemas; nothing in it is recursive. */
function inlineRefs(value: unknown, schemas: Record<string, Schema>): unknown {
  if (Array.isArray(value)) return value.map((inner) => inlineRefs(inner, schemas));
  if (typeof value !== "object" || value === null) return value;
  const ref = (value as Schema).$ref;
  if (typeof ref === "string") {
    const found = schemas[ref.replace("#/components/schemas/", "")];
    if (found === undefined) throw new Error(`${ref} is not in the description`);
    return inlineRefs(found, schemas);
  }
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, inlineRefs(inner, schemas)]));
}

/** Whether the path can be meant for this operation: the right number of parts, none of them empty. */
export function fits(operation: Operation, path: string): boolean {
  const parts = operation.template
    .split("/")
    .map((part) => (part.startsWith("{") ? "[^/]+" : part.replaceAll(".", "\\.")));
  return new RegExp(`^${parts.join("/")}$`).test(path.split("?")[0] ?? "");
}

/** Percent-encodes everything that is not plain, lone surrogates as the three bytes they would be. */
export function encodePart(text: string): string {
  return [...text]
    .map((char) => {
      if (/[\w.~-]/.test(char) && char.length === 1 && char.charCodeAt(0) < 128) return char;
      if (char.isWellFormed()) return encodeURIComponent(char);
      const code = char.charCodeAt(0);
      return [0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63)]
        .map((byte) => `%${byte.toString(16)}`)
        .join("");
    })
    .join("");
}

const asText = (value: unknown) => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
const naughtyText = fc.constantFrom(...NAUGHTY_TEXTS);

/** Requests for one operation, from quite right to quite wrong. */
export function requestsFor(operation: Operation, token: string): fc.Arbitrary<FuzzRequest> {
  const of = (place: Parameter["in"]) => operation.parameters.filter((parameter) => parameter.in === place);
  const path = pathFor(operation.template, of("path"));
  const query = queryFor(of("query"));
  const method = fc.oneof(
    { weight: 40, arbitrary: fc.constant(operation.method) },
    { weight: 1, arbitrary: fc.constantFrom("PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "TRACE") },
  );
  return fc
    .record({ method, path, query, headers: headersFor(of("header"), token), body: bodyFor(operation.body) })
    .map((parts) => {
      const mayHaveBody = !["GET", "HEAD", "TRACE", "OPTIONS"].includes(parts.method);
      const body = mayHaveBody ? parts.body : null;
      const headers = { ...(body === null ? {} : { "content-type": "application/json" }), ...parts.headers };
      return { method: parts.method, path: parts.path + parts.query, headers, body };
    });
}

function pathFor(template: string, parameters: Parameter[]): fc.Arbitrary<string> {
  const parts = template.split("/").map((part, index, all) => {
    const name = /^\{(.+)\}$/.exec(part)?.[1];
    if (name === undefined) return fc.constant(part);
    const schema = parameters.find((parameter) => parameter.name === name)?.schema ?? {};
    return fc.oneof(
      { weight: 4, arbitrary: allowed(schema, name).map((value) => encodePart(asText(value))) },
      { weight: 6, arbitrary: fc.nat(1000).map((which) => `{known:${all[index - 1]}:${which}}`) },
      { weight: 3, arbitrary: naughtyText.map(encodePart) },
      { weight: 1, arbitrary: fc.constantFrom(...NAUGHTY_PATHS) },
    );
  });
  return fc.tuple(...parts).map((all) => all.join("/"));
}

function queryFor(parameters: Parameter[]): fc.Arbitrary<string> {
  const right = parameters.map((parameter) =>
    fc
      .tuple(fc.boolean(), allowed(parameter.schema, parameter.name))
      .map(([there, value]) => (there || parameter.required === true ? [[parameter.name, asText(value)]] : [])),
  );
  const names = [...parameters.map(({ name }) => name), "extra", "__proto__", "constructor", "limit[]", "a.b", ""];
  const wrong = fc.array(fc.tuple(fc.constantFrom(...names), naughtyText), { minLength: 1, maxLength: 3 });
  const toText = (pairs: readonly (readonly string[])[]) =>
    pairs.length === 0
      ? ""
      : `?${pairs.map(([name = "", value = ""]) => `${encodePart(name)}=${encodePart(value)}`).join("&")}`;
  return fc.oneof(
    { weight: 5, arbitrary: fc.tuple(...right).map((pairs) => toText(pairs.flat())) },
    {
      weight: 2,
      arbitrary: fc.tuple(fc.tuple(...right), wrong).map(([pairs, more]) => toText([...pairs.flat(), ...more])),
    },
    { weight: 1, arbitrary: fc.constantFrom("?", "?&&", "?%zz=%", "?a", "?=", "?limit", `?x=${"y".repeat(9000)}`) },
  );
}

/** Headers cannot hold every character; what they can hold is sent. */
const headerText = (text: string) => text.replace(/[^\t\x20-\x7e\x80-\xff]/g, "").slice(0, 4000);

function headersFor(parameters: Parameter[], token: string): fc.Arbitrary<Record<string, string>> {
  const right = { authorization: `Bearer ${token}` };
  const named = [
    ...parameters.map(({ name }) => name.toLowerCase()),
    "idempotency-key",
    "last-event-id",
    "accept",
    "cookie",
  ];
  const odd = fc
    .record({ name: fc.constantFrom(...named), value: naughtyText })
    .map(({ name, value }) => ({ ...right, [name]: headerText(value) }));
  const others = fc.constantFrom<Record<string, string>>(
    {},
    { authorization: "Bearer wrong" },
    { ...right, host: "evil.invalid" },
    { ...right, origin: "http://evil.invalid" },
    { ...right, "sec-fetch-site": "cross-site" },
    { ...right, "content-type": "text/plain" },
    { ...right, "content-type": "multipart/form-data; boundary=x" },
    { ...right, "content-type": "application/json; charset=utf-16" },
    { ...right, "content-type": "application/json;;;=" },
    { ...right, "content-encoding": "gzip" },
    { ...right, "accept-encoding": "identity;q=0" },
    { ...right, accept: "image/png" },
  );
  return fc.oneof(
    { weight: 12, arbitrary: fc.constant(right) },
    { weight: 2, arbitrary: odd },
    { weight: 2, arbitrary: others },
  );
}

function bodyFor(schema: Schema | null): fc.Arbitrary<string | Buffer | null> {
  const naughty = fc.constantFrom<string | Buffer>(...NAUGHTY_BODIES);
  if (schema === null)
    return fc.oneof(
      { weight: 6, arbitrary: fc.constant(null) },
      { weight: 1, arbitrary: fc.constant("{}") },
      { weight: 1, arbitrary: naughty },
    );
  const toJson = (value: unknown) => JSON.stringify(value) ?? "null";
  return fc.oneof(
    { weight: 5, arbitrary: allowed(schema).map(toJson) },
    { weight: 6, arbitrary: nearlyAllowed(schema).map(toJson) },
    // A key that only a text can hold.
    {
      weight: 1,
      arbitrary: allowed(schema).map((value) => toJson(value).replace("{", '{"__proto__":{"polluted":1},')),
    },
    { weight: 1, arbitrary: naughty },
    { weight: 1, arbitrary: fc.constant(null) },
  );
}
