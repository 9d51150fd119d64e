/** What a key with limits may write about a workflow: its steps run later, without the key. */
import type { FieldError } from "../../base/errors.ts";
import { callersLimits } from "../../domain/access/caller.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import type { WorkflowDefinition } from "../../domain/workflow/definition.ts";
import { BUILT_IN_TEMPLATES } from "../../workflows/templates/registry.ts";
import type { OrchestratorDeps } from "../deps.ts";
import { invalid } from "../invalid.ts";
import type { SourceInput } from "../jobs/input.ts";
import type { PathOf } from "./source.ts";

/** Saved templates are shared, so they do not exist for a key with limits. `kept`: the one that the workflow has already. */
export async function refuseTemplates(
  { store }: Pick<OrchestratorDeps, "store">,
  { template = null, template_version: version }: SourceInput,
  kept: string | null,
  pathOf: PathOf,
): Promise<void> {
  if (callersLimits() === null || template === null || template === kept) return;
  const isBuiltIn = BUILT_IN_TEMPLATES.has(template) && (await store.template(template, version ?? undefined)) === null;
  if (!isBuiltIn) throw invalid([{ path: pathOf("template", ""), message: `there is no template named ${template}` }]);
}

/** A key with limits runs a workflow that uses sessions as it is: who writes a step decides what a session fetches. */
export function refuseSessions({ steps }: WorkflowDefinition, pathOf: PathOf): void {
  if (callersLimits() === null) return;
  const problems = steps.flatMap(({ params }, index): FieldError[] =>
    SESSION_PARAMS.filter((name) => isUsed(params[name])).map((name) => ({
      path: pathOf("definition", `steps[${index}].params.${name}`),
      message: "a key with limits cannot write or change a workflow that uses stored sessions",
    })),
  );
  if (problems.length > 0) throw invalid(problems);
}

const SESSION_PARAMS = ["session_id", "requires_auth"];

function isUsed(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null && value !== false;
}
