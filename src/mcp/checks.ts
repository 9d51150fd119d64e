/** Validates arguments against the schemas that agents see; errors have the form of API errors. */
import type { TSchema } from "typebox";
import { fromJsonSchema, type JsonSchemaType, type jsonSchemaValidator } from "@modelcontextprotocol/server";
import type { ValidateFunction } from "ajv";
import { createChecker } from "../api/validation.ts";
import { fieldErrors } from "../domain/text/schema-faults.ts";

const checker = createChecker({ all: true, coerce: false });

const ours: jsonSchemaValidator = {
  getValidator<T>(schema: JsonSchemaType) {
    // Compiled on first use: an agent lists all tools and calls a few.
    let check: ValidateFunction | null = null;
    return (value: unknown) => {
      check ??= checker.compile(schema as object);
      if (check(value)) return { valid: true as const, data: value as T, errorMessage: undefined };
      const fields = fieldErrors(check.errors ?? [], value, "");
      const errorMessage = fields
        .map(({ path, message }) => (path === "" ? message : `${path}: ${message}`))
        .join("; ");
      return { valid: false as const, data: undefined, errorMessage };
    };
  },
};

export function asStandard(schema: TSchema) {
  return fromJsonSchema<Record<string, unknown>>(schema as JsonSchemaType, ours);
}
