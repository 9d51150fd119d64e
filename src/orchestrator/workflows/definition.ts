import type { FieldError } from "../../base/errors.ts";
import type { WorkflowDefinition } from "../../domain/workflow/definition.ts";
import type { JobDeps } from "../jobs/deps.ts";

/** What definitions are looked up in and held against. */
export type SourceDeps = Pick<JobDeps, "store" | "stepKinds">;

/** A definition that was given, checked as a whole; or null and what is wrong with it in `problems`. */
export async function readDefinition(
  { stepKinds }: Pick<SourceDeps, "stepKinds">,
  given: unknown,
  pathOf: (inner: string) => string,
  problems: FieldError[],
): Promise<WorkflowDefinition | null> {
  // It takes a while to load, and few calls need it.
  const { validateWorkflow } = await import("../../domain/workflow/validate.ts");
  const { ok, errors } = validateWorkflow(given, await stepKinds());
  if (ok !== undefined) return ok;
  problems.push(...errors.map(({ path, message }) => ({ path: pathOf(path), message })));
  return null;
}
