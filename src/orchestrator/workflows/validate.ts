import { type FieldError, isOrbError } from "../../base/errors.ts";
import type { SourceInput } from "../jobs/input.ts";
import type { SourceDeps } from "./definition.ts";
import { findDefinition, passesPreflight, type PathOf, readSource } from "./source.ts";

export interface Validation {
  valid: boolean;
  errors: FieldError[];
}

/** Validates a workflow and lists every error; with params, also whether it could start with them. */
export async function validateWorkflow(deps: SourceDeps, input: SourceInput, pathOf: PathOf): Promise<Validation> {
  const errors: FieldError[] = [];
  const hasParams = (input.params ?? null) !== null;
  try {
    if (hasParams) await readSource(deps, input, pathOf, errors);
    else {
      const found = await findDefinition(deps, input, pathOf, errors);
      if (found !== null) await passesPreflight(deps, found, null, pathOf, errors);
    }
  } catch (error) {
    // Its field is in the list.
    if (!isOrbError(error) || error.code !== "forbidden_target") throw error;
  }
  return { valid: errors.length === 0, errors };
}
