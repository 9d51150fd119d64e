/** Seals rows of older versions, which stored URL credentials and write-only params in clear text. */
import { isOrbError } from "../../base/errors.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { mapTexts, sealAddress, sealedUserinfo } from "../../domain/text/sealed-text.ts";
import type { StepPayload, WorkflowSnapshot } from "../../domain/workflow/definition.ts";
import { sealDefinition, sealParams } from "../../domain/workflow/secrets/secrets.ts";
import type { WorkflowRecipe } from "../../domain/workflow/source.ts";
import type { StoredText } from "../../store/ports/seal-port.ts";
import type { JobDeps } from "../jobs/deps.ts";
import { findTemplate } from "./templates.ts";

type SealDeps = Pick<JobDeps, "store" | "seal" | "stepKinds">;

/** Seals a batch of stored clear texts; returns how many, and whether more rows remain. */
export async function sealStored(deps: SealDeps): Promise<{ sealed: number; more: boolean }> {
  const found = await deps.store.unsealedTexts();
  if (found === null) return { sealed: 0, more: false };
  const changes: { was: StoredText; text: string }[] = [];
  for (const was of found.texts) {
    const text = await sealedText(deps, was);
    if (text !== was.text) changes.push({ was, text });
  }
  await deps.store.sealTexts(changes, found.until);
  return { sealed: changes.length, more: true };
}

async function sealedText(deps: SealDeps, { kind, text }: StoredText): Promise<string> {
  const { seal } = deps;
  if (kind === "task_url") return sealAddress(seal, text, sealedUserinfo(text));
  const value = JSON.parse(text) as JsonValue;
  const sealed = await sealedValue(deps, kind, value);
  return JSON.stringify(sealed) === JSON.stringify(value) ? text : JSON.stringify(sealed);
}

async function sealedValue(deps: SealDeps, kind: StoredText["kind"], value: JsonValue): Promise<unknown> {
  switch (kind) {
    case "workflow": {
      const { definition, params, ...rest } = value as unknown as WorkflowSnapshot;
      const sealed = sealParams(deps.seal, definition.params, params, params);
      return { definition: await sealedDefinition(deps, definition), params: sealed, ...rest };
    }
    case "template":
      return sealedDefinition(deps, value);
    case "job":
    case "job_version": {
      const recipe = value as unknown as WorkflowRecipe;
      const { definition, params } = recipe.workflow;
      const schema = await schemaOf(deps, recipe.workflow);
      const workflow = {
        ...recipe.workflow,
        definition: definition === null ? null : await sealedDefinition(deps, definition),
        params: sealParams(deps.seal, schema, params, params),
      };
      return { ...recipe, workflow };
    }
    default: {
      const { item } = (value ?? {}) as Partial<StepPayload>;
      // Of a step only the entry may contain clear text.
      return item === undefined
        ? sealTexts(deps, value)
        : { ...(value as object), item: sealTexts(deps, item as JsonValue) };
    }
  }
}

/** Leaves sealed values unchanged. */
function sealTexts({ seal }: SealDeps, value: JsonValue): JsonValue {
  return mapTexts(value, (text) => sealAddress(seal, text, sealedUserinfo(text)));
}

async function sealedDefinition<T>({ seal, stepKinds }: SealDeps, definition: T): Promise<T> {
  const kinds = await stepKinds();
  return sealDefinition(
    seal,
    (kind) => kinds.find(kind)?.params,
    definition,
    definition,
    () => undefined,
  );
}

async function schemaOf(
  deps: SealDeps,
  { definition, template, template_version: version }: WorkflowRecipe["workflow"],
) {
  if (definition !== null) return (definition as { params?: JsonValue }).params ?? null;
  try {
    const found = await findTemplate(deps, template ?? "", version ?? undefined);
    return (found.definition as { params?: JsonValue }).params ?? null;
  } catch (error) {
    // Its params do not matter: it cannot be started.
    if (isOrbError(error, "not_found")) return null;
    throw error;
  }
}
