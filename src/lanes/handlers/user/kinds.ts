/** Validates the step kinds and extractors of a module before anything relies on them. */
import { messageOf } from "../../../base/errors.ts";
import { SchemaError } from "../../../domain/text/json-schema.ts";
import { compileSchema, type RecordCheck } from "../../../extract/schema.ts";
import { moduleError } from "./process.ts";
import type { ExtractorDescription, ModuleContents, StepDescription } from "./protocol.ts";
import type { UserStep } from "./step-work.ts";

/** Sorted by name. */
export function checkSteps(module: string, { steps }: ModuleContents): UserStep[] {
  return steps
    .toSorted((a, b) => (a.kind < b.kind ? -1 : 1))
    .map((description) => {
      check(module, description, "params", description.params);
      const checkOutput = description.output === null ? null : check(module, description, "output", description.output);
      return { description, checkOutput };
    });
}

/** Sorted by name. */
export function checkExtractors(module: string, { extractors }: ModuleContents): ExtractorDescription[] {
  for (const { name, params } of extractors)
    if (params !== null) checkSchema(module, `extractors.${name}.params`, params);
  return extractors.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function check(module: string, { kind }: StepDescription, part: "params" | "output", schema: unknown): RecordCheck {
  return checkSchema(module, `steps.${kind}.${part}`, schema);
}

function checkSchema(module: string, path: string, schema: unknown): RecordCheck {
  if ((schema as { type?: unknown }).type !== "object")
    throw moduleError(module, `${path} must be the JSON Schema of an object: { type: "object", … }`);
  try {
    return compileSchema(schema);
  } catch (error) {
    throw moduleError(module, `${path}${error instanceof SchemaError ? error.path : ""}: ${messageOf(error)}`);
  }
}
