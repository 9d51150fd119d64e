/** One-off page runs, and the request of a run, so that it can be repeated. */
import { OrbError } from "../../base/errors.ts";
import { crawlOptionsOf, pageRecipeOf } from "../../domain/crawl/crawl-options.ts";
import type { PageSnapshot } from "../../domain/run/recipe.ts";
import type { WorkflowSnapshot } from "../../domain/workflow/definition.ts";
import { withoutSecrets } from "../../domain/text/sealed-text.ts";
import { shownDefinition, shownParams } from "../../domain/workflow/secrets/secrets.ts";
import type { IdempotencyKey } from "../../store/records/job-records.ts";
import type { RunRecord } from "../../store/ports/port.ts";
import type { RunDeps } from "../jobs/deps.ts";
import { requireExtractor } from "../jobs/extractor-input.ts";
import { type JobInput, pageJobFrom } from "../jobs/input.ts";
import { inputOf } from "../jobs/manage.ts";
import type { OrchestratorDeps } from "../deps.ts";
import { withPageSession } from "../session-for-page.ts";
import { requireRun } from "./control.ts";
import { startPageRun } from "./start.ts";
import { type RunView, toRunView } from "./view.ts";

/** Fetches one page; only the run is stored. */
export async function startPage(deps: RunDeps, input: JobInput, once?: IdempotencyKey): Promise<RunView> {
  const before = once === undefined ? null : await deps.store.answered(once, deps.clock.now());
  if (before !== null) return toRunView(before as RunRecord, deps);
  const checked = pageJobFrom(input, deps);
  await requireExtractor(deps, input);
  const job = await withPageSession(deps, checked);
  return startPageRun(deps, { ...job, id: null }, once);
}

interface RecipeView {
  /** As `POST /jobs` accepts it, without secrets. */
  recipe: JobInput;
  header_names: string[];
  cookie_names: string[];
}

/** The request of a run. */
export async function showRecipe(deps: OrchestratorDeps, id: string): Promise<RecipeView> {
  const run = await requireRun(deps, id);
  const about = { name: run.name, tags: [], url: run.url ?? "" };
  if (run.kind === "page") {
    const { url, recipe } = run.snapshot as PageSnapshot;
    const input = inputOf({ ...about, kind: "page", url, recipe: { ...recipe, schedule: null } });
    const { header_names, cookie_names } = recipe;
    return {
      recipe: withoutSecrets({ kind: "page", ...input }),
      header_names: [...header_names],
      cookie_names: [...cookie_names],
    };
  }
  if (run.kind === "crawl") {
    const crawl = crawlOptionsOf(run);
    const { recipe } = plain(inputOf({ ...about, kind: "crawl", recipe: { ...pageRecipeOf(crawl), crawl } }));
    return { recipe: withoutSecrets(recipe), header_names: [...(crawl.header_names ?? [])], cookie_names: [] };
  }
  const snapshot =
    run.kind === "workflow" ? ((await deps.store.workflowSnapshot(id)) as WorkflowSnapshot | null) : null;
  if (snapshot === null)
    throw new OrbError("not_found", `run ${id} has no settings to show: it is of kind ${run.kind}`);
  const { definition, template, params } = snapshot;
  const shown = shownParams(definition.params, params);
  const source =
    template === null
      ? { definition: shownDefinition(definition), params: shown }
      : { template: template.name, template_version: template.version, params: shown };
  return plain({ kind: "workflow", name: run.name, workflow: source });
}

const plain = (recipe: JobInput): RecipeView => ({ recipe, header_names: [], cookie_names: [] });
