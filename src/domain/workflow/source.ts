import type { JsonValue } from "../lane/queue-item.ts";
import type { Recipe } from "../run/recipe.ts";

/** The source of a workflow: a definition or the name of a template, and its params. */
export interface WorkflowSource {
  definition: JsonValue;
  template: string | null;
  /** null: the newest there is when it starts. */
  template_version: number | null;
  params: Readonly<Record<string, JsonValue>>;
}

/** A saved workflow and its schedule. */
export interface WorkflowRecipe extends Recipe {
  workflow: WorkflowSource;
}
