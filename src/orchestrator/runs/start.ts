import { laneOfSite } from "../../domain/lane.ts";
import type { PageSnapshot, Recipe } from "../../domain/recipe.ts";
import type { JobRecord, Once } from "../../store/job-records.ts";
import type { NewRun, NewTask } from "../../store/port.ts";
import type { JobDeps } from "../jobs/deps.ts";
import { requireJob } from "../jobs/manage.ts";
import type { RunView } from "./view.ts";
import { toRunView } from "./view.ts";

export interface RunDeps extends JobDeps {
  /** What holds for a job that says nothing itself. */
  defaultMaxAttempts: number;
}

/** The name under which the worker knows how a page is got. */
export const PAGE_HANDLER = "page";

/** Starts a run of a saved job. Nothing is fetched here: the answer is there as soon as the run is on disk. */
export async function startJobRun(deps: RunDeps, jobId: string, once?: Once): Promise<RunView> {
  return startPageRun(deps, await requireJob(deps, jobId), once);
}

type Startable = Pick<JobRecord, "name" | "url" | "site" | "recipe"> & { id: string | null };

/** Starts a run of a recipe, saved or not. */
export async function startPageRun(deps: RunDeps, job: Startable, once?: Once): Promise<RunView> {
  const recipe = job.recipe as Recipe;
  const snapshot: PageSnapshot = { url: job.url, recipe };
  const maxAttempts = recipe.max_attempts ?? deps.defaultMaxAttempts;
  const run: NewRun = {
    kind: "page",
    name: job.name,
    url: job.url,
    site: job.site,
    maxAttempts,
    snapshot,
    meta: { url: job.url, requested_strategy: recipe.strategy, max_attempts: maxAttempts },
    ...(job.id === null ? {} : { jobId: job.id }),
  };
  const { made, lanes } = await deps.store.startRun(run, [firstTask(job, recipe)], deps.clock.now(), once);
  if (lanes.length > 0) await deps.wake(lanes);
  return toRunView(made, maxAttempts);
}

function firstTask(job: Startable, recipe: Recipe): NewTask {
  const replay = recipe.replay as { request: { url: string } } | null;
  const url = recipe.strategy === "api_replay" && replay !== null ? replay.request.url : job.url;
  return {
    key: "page",
    lane: laneOfSite(job.site),
    site: job.site,
    resolver: null,
    url,
    priority: 0,
    handler: PAGE_HANDLER,
    payload: null,
  };
}
