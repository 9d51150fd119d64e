import type { JsonValue } from "../lane/queue-item.ts";
import type { Recipe } from "../run/recipe.ts";

/** Where a workflow comes from, as it was given: a definition, or the name of a template; and what it is started with. */
export interface WorkflowSource {
  definition: JsonValue;
  template: string | null;
  /** null: the newest there is when it starts. */
  template_version: number | null;
  params: Readonly<Record<string, JsonValue>>;
}

/** A saved workflow: what it is made from each time, and when. */
export interface WorkflowRecipe extends Recipe {
  workflow: WorkflowSource;
}
