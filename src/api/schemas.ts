/** Building blocks of all route schemas. */
import type { TProperties, TSchema } from "typebox";
import { PROBLEM_CODES } from "./problems.ts";
import { Type } from "./type.ts";

/** An object with known keys only: others are rejected in requests, and never sent in responses. */
export function strict<T extends TProperties>(properties: T, options: { description?: string } = {}) {
  return Type.Object(properties, { additionalProperties: false, ...options });
}

export function nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()]);
}

export function oneOf<const T extends readonly string[]>(words: T, options: { description?: string } = {}) {
  return Type.Unsafe<T[number]>(Type.String({ enum: [...words], ...options }));
}

export const Uuid = Type.String({ format: "uuid" });
/** An id in a path: an invalid one is as unknown as any other. */
export const IdParam = Type.String({ minLength: 1, maxLength: 100, description: "a UUID" });
/** Of a run, crawl, workflow or job: `acceptShortIds` has expanded it before validation. */
export const ShortIdParam = Type.String({
  minLength: 1,
  maxLength: 100,
  description: "a UUID, or a unique prefix of at least 6 characters; `last` is the newest run, crawl or workflow",
});
export const Time = Type.String({ format: "date-time", description: "UTC, ISO 8601" });
export const Count = Type.Integer({ minimum: 0 });

const FieldErrorSchema = strict({
  path: Type.String({ description: "the field: items[0].url, query.limit, path.site, header.idempotency-key" }),
  message: Type.String(),
});

const problemMembers = {
  type: Type.String(),
  title: Type.String(),
  status: Type.Integer(),
  detail: Type.String(),
  code: oneOf(PROBLEM_CODES, { description: "stable; docs/api.md and docs/errors.md list them" }),
  errors: Type.Optional(Type.Array(FieldErrorSchema)),
  hint: Type.Optional(Type.String()),
  error_id: Type.Optional(Type.String()),
  failure_code: Type.Optional(Type.String()),
  failure_reason: Type.Optional(Type.String()),
};

/** Defined once in the description, under this name. */
export const ProblemSchema = Type.Object(problemMembers, {
  $id: "Problem",
  additionalProperties: false,
  description: "RFC 9457 problem",
});

/** A problem with further members. */
export function problemWith<T extends TProperties>(more: T) {
  return strict({ ...problemMembers, ...more });
}

export const PROBLEM_TYPE = "application/problem+json";

/** Declares a problem response. */
export function problemAnswer(description: string, schema: TSchema = Type.Ref("Problem#")) {
  return { description, content: { [PROBLEM_TYPE]: { schema } } };
}

/** Declares a response that is not JSON. */
export function textAnswer(description: string, type: string) {
  return { description, content: { [type]: { schema: Type.String() } } };
}
