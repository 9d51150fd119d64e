import { isDeepStrictEqual } from "node:util";
import { OrbError } from "../../base/errors.ts";
import { without } from "../../base/without.ts";
import type { CrawlRecipe } from "../../domain/crawl-options.ts";
import { fetchedUrl, type PageSnapshot, type Recipe } from "../../domain/recipe.ts";
import { RUN_STATES, TERMINAL_RUN_STATES } from "../../domain/states.ts";
import type { WorkflowRecipe } from "../../domain/workflow/source.ts";
import type { JobChange, JobFilter, JobRecord, NewJob, Once } from "../../store/job-records.ts";
import { cancelUnlessEnded } from "../runs/control.ts";
import { requireSessionFor } from "../session-for-page.ts";
import type { JobDeps } from "./deps.ts";
import { asGiven, changedCrawl, crawlJobFrom } from "./crawl-input.ts";
import { invalid } from "../invalid.ts";
import { type JobInput, pageJobFrom } from "./input.ts";
import { requireExtractor } from "./extractor-input.ts";
import { keptCredentials } from "./kept-credentials.ts";
import { type JobView, toJobView } from "./view.ts";
import { changedWorkflow, sourceAsGiven, workflowJobFrom } from "./workflow-input.ts";

export async function createJob(deps: JobDeps, input: JobInput, once?: Once): Promise<JobView> {
  // A repeated call is answered as the first one was, although its session may be gone by now.
  const before = once === undefined ? null : await deps.store.answered(once, deps.clock.now());
  if (before !== null) return toJobView(before as JobRecord, null, (before as JobRecord).createdAt);
  const job = await jobFrom(input, deps);
  const { session_id: session } = job.recipe as Recipe;
  if (session !== null) await requireSessionFor(deps, session, pageOf(job));
  const { made } = await deps.store.createJob(job, deps.clock.now(), once);
  return toJobView(made, null, made.createdAt);
}

async function jobFrom(input: JobInput, deps: JobDeps): Promise<NewJob> {
  if (input.kind === "workflow") return workflowJobFrom(input, deps);
  return withExtractor(deps, input.kind === "crawl" ? crawlJobFrom(input, deps) : pageJobFrom(input, deps));
}

/** Throws what is wrong with a job, as far as it can be told by its words alone; of a workflow nothing. */
export function checkJob(input: JobInput, deps: JobDeps): void {
  if (input.kind === "crawl") crawlJobFrom(input, deps);
  else if (input.kind !== "workflow") pageJobFrom(input, deps);
}

/** The job, when whoever it wants to read its pages is there. */
async function withExtractor(deps: JobDeps, job: NewJob): Promise<NewJob> {
  const under = job.kind === "crawl" ? "crawl." : "";
  await requireExtractor(deps, job.recipe as Recipe, (path) => under + path);
  return job;
}

function pageOf({ url, recipe }: NewJob): PageSnapshot {
  return { url, recipe: recipe as Recipe };
}

export async function listJobs({ store, clock }: JobDeps, filter: JobFilter): Promise<JobView[]> {
  const jobs = await store.jobs(filter);
  const last = await store.lastRuns(jobs.map(({ id }) => id));
  return jobs.map((job) => toJobView(job, last.get(job.id) ?? null, clock.now()));
}

async function viewOf({ store, clock }: JobDeps, job: JobRecord): Promise<JobView> {
  return toJobView(job, (await store.lastRuns([job.id])).get(job.id) ?? null, clock.now());
}

export async function requireJob({ store }: JobDeps, id: string): Promise<JobRecord> {
  const job = await store.job(id);
  if (job === null) throw new OrbError("not_found", `there is no job with the id ${id}`);
  return job;
}

export async function showJob(deps: JobDeps, id: string): Promise<JobView> {
  return viewOf(deps, await requireJob(deps, id));
}

/**
 * Changes what is given; runs that have begun keep the recipe they began with. Headers and cookies are replaced as a
 * whole, and forgotten when the job turns to another origin: they were given for the old one.
 */
export async function changeJob(deps: JobDeps, id: string, change: JobInput): Promise<JobView> {
  const before = await requireJob(deps, id);
  if (change.kind !== undefined && change.kind !== before.kind)
    throw invalid([{ path: "kind", message: `cannot be changed from ${before.kind}: save another job instead` }]);
  const job = await changedJob(deps, before, change);
  await requireItsSession(deps, before, job, change);
  return viewOf(deps, await deps.store.updateJob(id, keepSlot(before, job), deps.clock.now()));
}

async function changedJob(deps: JobDeps, before: JobRecord, change: JobInput): Promise<NewJob> {
  if (before.kind === "workflow") {
    const { workflow } = before.recipe as WorkflowRecipe;
    return workflowJobFrom(changedWorkflow(inputOf(before), change), deps, workflow);
  }
  if (before.kind === "crawl")
    return withExtractor(
      deps,
      crawlJobFrom(changedCrawl(inputOf(before), change), deps, (before.recipe as CrawlRecipe).crawl),
    );
  return withExtractor(deps, changedPage(deps, before, change));
}

function changedPage(deps: JobDeps, before: JobRecord, change: JobInput): NewJob {
  const kept = keptCredentials(deps.seal, before, change);
  const job = pageJobFrom(
    { ...inputOf(before), ...("opened" in kept ? kept.opened : {}), ...change },
    deps,
    before.recipe as Recipe,
  );
  if ("unopened" in kept) job.recipe = { ...(job.recipe as Recipe), ...kept.unopened };
  return job;
}

/** A session that was deleted since keeps nobody from changing anything else. */
async function requireItsSession(deps: JobDeps, before: JobRecord, after: NewJob, change: JobInput): Promise<void> {
  const { session_id: session } = after.recipe as Recipe;
  if (session === null) return;
  const originOf = (job: NewJob) => new URL(fetchedUrl(pageOf(job))).origin;
  if (change.session_id === undefined && originOf(before) === originOf(after)) return;
  await requireSessionFor(deps, session, pageOf(after));
}

/** The time at which it is due stays, unless the job now has other times; it may be passing just now. */
function keepSlot(before: JobRecord, after: NewJob): JobChange {
  const times = ({ recipe }: NewJob) => {
    const { schedule } = recipe as Recipe;
    return schedule === null ? null : [schedule.cron, schedule.timezone ?? "UTC", schedule.jitter_seconds];
  };
  // A schedule that is gone is not paused any more: the next one would be, without a word.
  if (times(after) === null) return { ...after, schedulePausedAt: null };
  return isDeepStrictEqual(times(before), times(after)) ? without(after, "nextAt", "nextSlot") : after;
}

/** The job as it would be given anew, without its secrets. */
export function inputOf(job: Pick<JobRecord, "name" | "tags" | "kind" | "url" | "recipe">): JobInput {
  const recipe = without(job.recipe as Recipe, "header_names", "cookie_names", "sealed", "sealed_proxy");
  const { schedule, timezone } = recipe;
  const about: JobInput = { name: job.name, tags: job.tags, schedule, timezone };
  // A schedule that took its time zone from the job follows it into another one.
  if (schedule !== null && schedule.timezone === timezone) about.schedule = { ...schedule, timezone: null };
  if (job.kind === "workflow")
    return { ...about, kind: "workflow", workflow: sourceAsGiven((job.recipe as WorkflowRecipe).workflow) };
  if (job.kind === "crawl") return { ...about, kind: "crawl", crawl: asGiven((job.recipe as CrawlRecipe).crawl) };
  return { target_url: job.url, ...recipe, ...about };
}

/** Refused while a run of it is not at its end, unless that is to be cancelled with it. */
export async function deleteJob(deps: JobDeps, id: string, options: { force: boolean }): Promise<void> {
  await requireJob(deps, id);
  if (options.force) {
    for (;;) {
      const live = await deps.store.runs({
        jobId: id,
        status: RUN_STATES.filter((state) => !TERMINAL_RUN_STATES.includes(state)),
        limit: 100,
      });
      if (live.length === 0) break;
      for (const run of live) await cancelUnlessEnded(deps, run.id);
    }
  }
  await deps.store.deleteJob(id, deps.clock.now());
}
