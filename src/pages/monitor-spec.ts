import { documentOf } from "../domain/page/page-options.ts";
import { type MonitorOptions, selectorsOf } from "../domain/monitor/options.ts";
import type { Recipe } from "../domain/run/recipe.ts";
import type { PlanSpec } from "../extract/plan.ts";

/** The part of the extraction plan for a monitor; nothing for what the records or the browser give. */
export function monitorSpec(
  monitor: MonitorOptions | null | undefined,
  recipe: Pick<Recipe, "document" | "browser">,
): Pick<PlanSpec, "monitor"> {
  if (monitor === null || monitor === undefined) return {};
  const { what } = monitor;
  if (what === "fields" || what === "screenshot") return {};
  const only_main_content = documentOf(recipe)?.only_main_content ?? true;
  return { monitor: { what, exclude: selectorsOf(monitor), only_main_content } };
}
