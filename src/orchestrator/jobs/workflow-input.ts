/** Input of a saved workflow: everything about its steps is below `workflow`. */
import { isDeepStrictEqual } from "node:util";
import { type FieldError, isOrbError } from "../../base/errors.ts";
import { plainRecipe } from "../../domain/run/recipe.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { hasSecrets, keepHiddenParams, sealParams } from "../../domain/workflow/secrets/secrets.ts";
import { withoutSecrets } from "../../domain/text/sealed-text.ts";
import type { WorkflowRecipe, WorkflowSource } from "../../domain/workflow/source.ts";
import type { NewJob } from "../../store/records/job-records.ts";
import { requireSealed } from "../workflows/definition.ts";
import { refuseSessions, refuseTemplates } from "../workflows/key-limits.ts";
import { refuseMovedSecrets } from "../workflows/moved-secrets.ts";
import { findTemplate } from "../workflows/templates.ts";
import { pathsBelow, readSource, sourceFrom } from "../workflows/source.ts";
import type { JobDeps } from "./deps.ts";
import { invalid } from "../invalid.ts";
import { type JobInput, policiesOf, type SourceInput } from "./input.ts";
import { firstTime, readSchedule } from "./schedule-input.ts";

/** A workflow job, ready to store. Throws `input_invalid` with every invalid field. `before` is the current source. */
export async function workflowJobFrom(input: JobInput, deps: JobDeps, before?: WorkflowSource): Promise<NewJob> {
  const problems: FieldError[] = [];
  refuseOtherKeys(input, problems);
  const schedule = readSchedule(input, problems, deps);
  const requested = input.workflow ?? {};
  // A template may change until a run starts, which reads it again.
  const stored = before?.params ?? {};
  await refuseTemplates(deps, requested, before?.template ?? null, pathsBelow("workflow"));
  const snapshot = await readSource(deps, requested, pathsBelow("workflow"), problems, stored);
  if (problems.length > 0 || snapshot === null) throw invalid(problems);
  const source = sourceFrom(requested);
  if (!isDeepStrictEqual(withoutSecrets(source), withoutSecrets(before)))
    refuseSessions(snapshot.definition, pathsBelow("workflow"));
  const schema = snapshot.definition.params;
  if (before !== undefined) {
    const [old, now] = [await writtenDefinition(deps, before), await writtenDefinition(deps, source)];
    const changed = { definition: now, params: source.params };
    refuseMovedSecrets({ definition: old, params: stored }, changed, pathsBelow("workflow"));
  }
  const clear = keepHiddenParams(deps.seal, schema, source.params, stored, () => undefined);
  source.params = sealParams(deps.seal, schema, clear, stored);
  if (source.definition !== null)
    source.definition = await requireSealed(deps, source.definition, before?.definition ?? null, (inner) =>
      pathsBelow("workflow")("definition", inner),
    );
  // A later version of the template gets no secrets that this one was given.
  if (source.template !== null && snapshot.template !== null && hasSecrets(source.params))
    source.template_version = snapshot.template.version;
  const recipe: WorkflowRecipe = {
    ...plainRecipe("auto", { schedule, timezone: input.timezone ?? null }),
    workflow: source,
  };
  return {
    name: input.name ?? snapshot.definition.name,
    kind: "workflow",
    url: "",
    site: "",
    tags: input.tags ?? [],
    recipe,
    ...firstTime(schedule, deps),
    ...policiesOf(input),
  };
}

/** As it was written or saved; null: its template is gone. */
async function writtenDefinition(deps: JobDeps, source: WorkflowSource): Promise<JsonValue> {
  const { definition, template, template_version: version } = source;
  if (definition !== null || template === null) return definition;
  try {
    return (await findTemplate(deps, template, version ?? undefined)).definition;
  } catch (error) {
    if (!isOrbError(error, "not_found")) throw error;
    return null;
  }
}

const OF_ALL = new Set<keyof JobInput>([
  "name",
  "kind",
  "schedule",
  "timezone",
  "tags",
  "keep_runs",
  "keep_days",
  "workflow",
]);

/** Other keys would be stored and never used. */
function refuseOtherKeys(input: JobInput, problems: FieldError[]): void {
  const requested = (Object.keys(input) as (keyof JobInput)[]).filter((key) => (input[key] ?? null) !== null);
  for (const path of requested.filter((key) => !OF_ALL.has(key)))
    problems.push({ path, message: "is only for page and crawl jobs; in a workflow, set it in the params of a step" });
}

/** Merges a change into a saved workflow: replaces its source when that differs, else merges key by key. */
export function changedWorkflow(before: JobInput, change: JobInput): JobInput {
  const old = before.workflow ?? {};
  const requested = change.workflow ?? {};
  const isOther = (requested.definition ?? null) !== null || (requested.template ?? null) !== null;
  const workflow: SourceInput = isOther ? { params: old.params ?? {}, ...requested } : { ...old, ...requested };
  return { ...before, ...change, workflow };
}

/** Converts the source of a workflow back to input. */
export function toSourceInput({ definition, template, template_version, params }: WorkflowSource): SourceInput {
  return definition === null ? { template, template_version, params } : { definition, params };
}
