import type { FieldError } from "../../base/errors.ts";
import type { SourceInput } from "../jobs/input.ts";
import type { SourceDeps } from "./definition.ts";
import { findDefinition, type PathOf, readSource } from "./source.ts";

export interface Validation {
  valid: boolean;
  errors: FieldError[];
}

/** Whether a workflow is right, every mistake at once; with params, whether it could be started with them. */
export async function validateWorkflow(deps: SourceDeps, input: SourceInput, pathOf: PathOf): Promise<Validation> {
  const errors: FieldError[] = [];
  const hasParams = (input.params ?? null) !== null;
  await (hasParams ? readSource : findDefinition)(deps, input, pathOf, errors);
  return { valid: errors.length === 0, errors };
}
