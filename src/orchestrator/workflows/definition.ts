import type { FieldError } from "../../base/errors.ts";
import { inTurns } from "../../base/process/event-loop.ts";
import type { WorkflowDefinition } from "../../domain/workflow/definition.ts";
import { sealDefinition } from "../../domain/workflow/secrets/secrets.ts";
import { invalid } from "../invalid.ts";
import type { JobDeps } from "../jobs/deps.ts";
import type { Checks } from "../jobs/input.ts";

/** What definitions are resolved and validated against. */
export type SourceDeps = Pick<JobDeps, "store" | "stepKinds" | "respectRobots"> & Checks;

/** Validates a definition as a whole; null: the errors are in `problems`. */
export async function readDefinition(
  { stepKinds }: Pick<SourceDeps, "stepKinds">,
  input: unknown,
  pathOf: (inner: string) => string,
  problems: FieldError[],
): Promise<WorkflowDefinition | null> {
  // Slow to load, and few calls need it.
  const { validateInStages } = await import("../../domain/workflow/validate.ts");
  const { ok, errors } = await inTurns(validateInStages(input, await stepKinds()));
  if (ok !== undefined) return ok;
  problems.push(...errors.map(({ path, message }) => ({ path: pathOf(path), message })));
  return null;
}

/**
 * A valid definition, ready to store, with its secrets sealed. `before` is the definition it replaces, whose secrets it
 * may keep. Throws `input_invalid` when it keeps a secret that does not exist.
 */
export async function requireSealed<T>(
  { stepKinds, seal }: Pick<JobDeps, "stepKinds" | "seal">,
  definition: T,
  before: unknown,
  pathOf: (inner: string) => string,
): Promise<T> {
  const kinds = await stepKinds();
  const problems: FieldError[] = [];
  const schemaOf = (kind: string) => kinds.find(kind)?.params;
  const sealed = sealDefinition(seal, schemaOf, definition, before, (path, message) =>
    problems.push({ path: pathOf(path), message }),
  );
  if (problems.length > 0) throw invalid(problems);
  return sealed;
}
