import { type CrawlRecipe, wholeCrawlOptions } from "../../domain/crawl/crawl-options.ts";
import { laneOfSite } from "../../domain/lane/lane.ts";
import { fetchedUrl, type PageSnapshot, type Recipe } from "../../domain/run/recipe.ts";
import { shownUrl } from "../../domain/text/url.ts";
import type { WorkflowRecipe } from "../../domain/workflow/source.ts";
import type { JobRecord, IdempotencyKey } from "../../store/records/job-records.ts";
import type { NewRun, NewTask, RunRecord } from "../../store/ports/port.ts";
import type { DueOccurrence, OccurrenceStart } from "../../store/ports/schedule-port.ts";
import { newCrawlRun } from "../crawls/start.ts";
import { admitCrawls } from "../crawls/turns.ts";
import type { CrawlDeps, RunDeps } from "../jobs/deps.ts";
import { requireJob } from "../jobs/manage.ts";
import { needingProxies } from "../proxies/rules.ts";
import { aboutOf, newWorkflowRun } from "../workflows/new-run.ts";
import { pathsBelow, requireSource, sealedParams } from "../workflows/source.ts";
import { dropWork } from "./control.ts";
import type { RunView } from "./view.ts";
import { toRunView } from "./view.ts";
import { callersTrace } from "./callers-trace.ts";

/** The worker's handler for pages; user handlers cannot have this name. */
export const PAGE_HANDLER = "@page";

/** Starts a run of a saved job. Fetches nothing: returns when the run is committed. */
export async function startJobRun(deps: CrawlDeps, jobId: string, once?: IdempotencyKey): Promise<RunView> {
  // A repeated call gets the first response, even if the job is gone by now.
  const before = once === undefined ? null : await deps.store.answered(once, deps.clock.now());
  if (before !== null) return toRunView(before as RunRecord, deps);
  const job = await requireJob(deps, jobId);
  const { run, tasks } = await newJobRun(deps, job);
  const { created, lanes } = await deps.store.startRun(run, tasks, deps.clock.now(), once);
  if (run.kind === "crawl") await admitCrawls(deps);
  else if (lanes.length > 0) await deps.wake(lanes);
  return toRunView(created, deps);
}

type Startable = Pick<JobRecord, "name" | "url" | "site" | "recipe"> & { id: string | null };

/** Starts a run of a recipe, saved or not. */
export async function startPageRun(deps: RunDeps, job: Startable, once?: IdempotencyKey): Promise<RunView> {
  const { run, tasks } = newPageRun(deps, job);
  const { created, lanes } = await deps.store.startRun(run, tasks, deps.clock.now(), once);
  if (lanes.length > 0) await deps.wake(lanes);
  return toRunView(created, deps);
}

/** Starts the run of one schedule occurrence, exactly once across processes and crashes. */
export async function startScheduledRun(
  deps: CrawlDeps,
  job: JobRecord,
  due: DueOccurrence,
): Promise<OccurrenceStart<RunRecord>> {
  const { run, tasks } = await newJobRun(deps, job);
  const start = await deps.store.startOccurrence(run, tasks, due, deps.clock.now());
  if (start.kind !== "started") return start;
  if (start.cancelled.length > 0) await dropWork(deps, start.cancelled);
  if (run.kind === "crawl") await admitCrawls(deps);
  else if (start.lanes.length > 0) await deps.wake(start.lanes);
  return start;
}

async function newJobRun(deps: RunDeps, job: JobRecord): Promise<{ run: NewRun; tasks: NewTask[] }> {
  if (job.kind === "workflow") return { run: await newRunOfWorkflow(deps, job), tasks: [] };
  return job.kind === "crawl"
    ? newCrawlRun(deps, wholeCrawlOptions((job.recipe as CrawlRecipe).crawl), {
        id: job.id,
        name: job.name,
        monitor: (job.recipe as CrawlRecipe).monitor ?? null,
      })
    : newPageRun(deps, job);
}

/** Uses the current template and step kinds: incompatible fields are reported with their path. */
async function newRunOfWorkflow(deps: RunDeps, job: JobRecord): Promise<NewRun> {
  const { workflow } = job.recipe as WorkflowRecipe;
  const snapshot = await requireSource(deps, workflow, pathsBelow("workflow"), workflow.params);
  return {
    ...newWorkflowRun(sealedParams(deps, snapshot, workflow.params), aboutOf({ job_id: job.id })),
    name: job.name,
  };
}

export function newPageRun(deps: RunDeps, job: Startable): { run: NewRun; tasks: NewTask[] } {
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
    meta: { url: shownUrl(job.url), requested_strategy: recipe.strategy, max_attempts: maxAttempts },
    ...(job.id === null ? {} : { jobId: job.id }),
    ...callersTrace(),
  };
  return { run: needingProxies(run, deps.proxyRules), tasks: [firstTask(job, recipe)] };
}

function firstTask(job: Startable, recipe: Recipe): NewTask {
  return {
    key: "page",
    lane: laneOfSite(job.site),
    site: job.site,
    resolver: null,
    url: fetchedUrl({ url: job.url, recipe }),
    priority: 0,
    handler: PAGE_HANDLER,
    payload: null,
  };
}
