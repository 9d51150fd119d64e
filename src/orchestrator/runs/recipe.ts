/** A page without a job of its own, and what a run was asked for, so that it can be asked for again. */
import { OrbError } from "../../base/errors.ts";
import { type CrawlSnapshot, pageRecipeOf } from "../../domain/crawl-options.ts";
import type { PageSnapshot, Recipe } from "../../domain/recipe.ts";
import type { WorkflowSnapshot } from "../../domain/workflow/definition.ts";
import { withoutSecrets } from "../../domain/workflow/secrets.ts";
import type { Once } from "../../store/job-records.ts";
import type { RunRecord } from "../../store/port.ts";
import type { RunDeps } from "../jobs/deps.ts";
import { requireExtractor } from "../jobs/extractor-input.ts";
import { type JobInput, pageJobFrom } from "../jobs/input.ts";
import { inputOf } from "../jobs/manage.ts";
import type { OrchestratorDeps } from "../deps.ts";
import { requireSessionFor } from "../session-for-page.ts";
import { requireRun } from "./control.ts";
import { startPageRun } from "./start.ts";
import { type RunView, toRunView } from "./view.ts";

/** Gets one page now; nothing but the run is kept. */
export async function startPage(deps: RunDeps, input: JobInput, once?: Once): Promise<RunView> {
  const before = once === undefined ? null : await deps.store.answered(once, deps.clock.now());
  if (before !== null) return toRunView(before as RunRecord, deps.defaultMaxAttempts);
  const job = pageJobFrom(input, deps);
  await requireExtractor(deps, input);
  const recipe = job.recipe as Recipe;
  if (recipe.session_id !== null) await requireSessionFor(deps, recipe.session_id, { url: job.url, recipe });
  return startPageRun(deps, { ...job, id: null }, once);
}

export interface RecipeView {
  /** As `POST /jobs` takes it, without its secrets. */
  recipe: JobInput;
  header_names: string[];
  cookie_names: string[];
}

/** What a run was asked for. */
export async function showRecipe(deps: OrchestratorDeps, id: string): Promise<RecipeView> {
  const run = await requireRun(deps, id);
  const about = { name: run.name, tags: [], url: run.url ?? "" };
  if (run.kind === "page") {
    const { url, recipe } = run.snapshot as PageSnapshot;
    const input = inputOf({ ...about, kind: "page", url, recipe: { ...recipe, schedule: null } });
    const { header_names, cookie_names } = recipe;
    return { recipe: { kind: "page", ...input }, header_names: [...header_names], cookie_names: [...cookie_names] };
  }
  if (run.kind === "crawl") {
    const { options: crawl } = run.snapshot as CrawlSnapshot;
    const { recipe } = plain(inputOf({ ...about, kind: "crawl", recipe: { ...pageRecipeOf(crawl), crawl } }));
    return { recipe, header_names: [...(crawl.header_names ?? [])], cookie_names: [] };
  }
  const made = run.kind === "workflow" ? ((await deps.store.workflowSnapshot(id)) as WorkflowSnapshot | null) : null;
  if (made === null)
    throw new OrbError("not_found", `the run ${id} is of the kind ${run.kind}, which is not asked for by a recipe`);
  const { definition, template, params } = made;
  const source =
    template === null
      ? { definition: withoutSecrets(definition), params }
      : { template: template.name, template_version: template.version, params };
  return plain({ kind: "workflow", name: run.name, workflow: source });
}

const plain = (recipe: JobInput): RecipeView => ({ recipe, header_names: [], cookie_names: [] });
