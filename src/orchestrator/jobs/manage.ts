import { isDeepStrictEqual } from "node:util";
import { OrbError } from "../../base/errors.ts";
import { hasSecrets } from "../../domain/workflow/secrets/secrets.ts";
import { without } from "../../base/without.ts";
import { type CrawlRecipe, wholeCrawlOptions } from "../../domain/crawl/crawl-options.ts";
import { fetchedUrl, type PageSnapshot, type Recipe } from "../../domain/run/recipe.ts";
import type { JobAuthor } from "../../domain/run/job-author.ts";
import { RUN_STATES, TERMINAL_RUN_STATES } from "../../domain/run/states.ts";
import type { WorkflowRecipe } from "../../domain/workflow/source.ts";
import type {
  JobChange,
  JobChangeSource,
  JobDefinition,
  JobFilter,
  JobRecord,
  NewJob,
  IdempotencyKey,
} from "../../store/records/job-records.ts";
import { cancelUnlessEnded } from "../runs/control.ts";
import { executeDeletions, type DeletionView, showDeletion } from "../runs/delete.ts";
import { withSession } from "../session-for-page.ts";
import type { JobDeps } from "./deps.ts";
import { refuseStaleJob } from "./conflict.ts";
import { toCrawlInput, changedCrawl, crawlJobFrom } from "./crawl-input.ts";
import { firstTime } from "./schedule-input.ts";
import { invalid } from "../invalid.ts";
import { type JobInput, pageJobFrom } from "./input.ts";
import { requireExtractor } from "./extractor-input.ts";
import { keptCredentials, refuseKeptAtProxy } from "./kept-credentials.ts";
import { withNotify } from "./notify.ts";
import { type JobView, toJobView } from "./view.ts";
import { changedWorkflow, toSourceInput, workflowJobFrom } from "./workflow-input.ts";

export async function createJob(
  deps: JobDeps,
  input: JobInput,
  once?: IdempotencyKey,
  author: JobAuthor = "api",
): Promise<JobView> {
  // A repeated call gets the first response, even if its session is gone by now.
  const before = once === undefined ? null : await deps.store.answered(once, deps.clock.now());
  if (before !== null) return toJobView(before as JobRecord, null, (before as JobRecord).createdAt);
  const job = await withNotify(deps, await withSession(deps, await jobFrom(input, deps)), input.notify);
  const { created } = await deps.store.createJob(job, deps.clock.now(), once, { author });
  return toJobView(created, null, created.createdAt);
}

async function jobFrom(input: JobInput, deps: JobDeps): Promise<NewJob> {
  if (input.kind === "workflow") return workflowJobFrom(input, deps);
  return withExtractor(deps, input.kind === "crawl" ? crawlJobFrom(input, deps) : pageJobFrom(input, deps));
}

/** Throws validation errors that need no other data; skips workflows. */
export function checkJob(input: JobInput, deps: JobDeps): void {
  if (input.kind === "crawl") crawlJobFrom(input, deps);
  else if (input.kind !== "workflow") pageJobFrom(input, deps);
}

/** The job, once its extractor is known to exist. */
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
 * Changes the fields in the request; started runs keep their recipe. Headers and cookies are replaced as a whole, and
 * dropped when the job changes its origin: they were set for the old one.
 */
export async function changeJob(
  deps: JobDeps,
  id: string,
  change: JobInput,
  version?: string,
  author: JobAuthor = "api",
): Promise<JobView> {
  const before = await requireJob(deps, id);
  refuseStaleJob(before, inputOf(before), change, version);
  if (change.kind !== undefined && change.kind !== before.kind)
    throw invalid([{ path: "kind", message: `cannot be changed from ${before.kind}: create another job instead` }]);
  const checked = await changedJob(deps, before, change);
  if (before.kind !== "workflow") refuseKeptAtProxy(deps.seal, before, checked, change);
  const changed = await withItsSession(deps, before, checked, change);
  const job = await withNotify(deps, changed, change.notify, before);
  const now = deps.clock.now();
  return viewOf(deps, await deps.store.updateJob(id, keepOccurrence(before, job), now, version, { author }));
}

/** Replaces the whole definition by one that the job had before. Its secrets are still sealed. */
export async function replaceJob(
  deps: JobDeps,
  id: string,
  definition: JobDefinition,
  source: JobChangeSource,
  version?: string,
): Promise<void> {
  const before = await requireJob(deps, id);
  const { schedule, session_id: session } = definition.recipe as Recipe;
  const after: NewJob = { ...definition, ...firstTime(schedule, deps) };
  // It may have been removed since the version was made.
  if (after.kind !== "workflow") await withExtractor(deps, after);
  else refuseOtherTemplate(before.recipe as WorkflowRecipe, after.recipe as WorkflowRecipe);
  const isOther = session !== (before.recipe as Recipe).session_id;
  const job = await withItsSession(deps, before, after, isOther ? { session_id: session } : {});
  await deps.store.updateJob(id, keepOccurrence(before, job), deps.clock.now(), version, source);
}

/** A template that the job no longer uses may have been deleted and made anew: the stored secrets were not given for it. */
function refuseOtherTemplate({ workflow: before }: WorkflowRecipe, { workflow: after }: WorkflowRecipe): void {
  if (after.template === null || !hasSecrets(after.params)) return;
  const { template, template_version: version } = after;
  if (version !== null && template === before.template && version === before.template_version) return;
  const message =
    "has secret params for a version of a template that the job does not use now: change the job instead, and send its secrets again";
  throw invalid([{ path: "version", message }]);
}

async function changedJob(deps: JobDeps, before: JobRecord, change: JobInput): Promise<NewJob> {
  if (before.kind === "workflow") {
    const { workflow } = before.recipe as WorkflowRecipe;
    return workflowJobFrom(changedWorkflow(inputOf(before), change), deps, workflow);
  }
  if (before.kind === "crawl")
    return withExtractor(
      deps,
      crawlJobFrom(
        changedCrawl(inputOf(before), change),
        deps,
        wholeCrawlOptions((before.recipe as CrawlRecipe).crawl),
      ),
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

/** A session deleted since does not block other changes. */
async function withItsSession(deps: JobDeps, before: JobRecord, after: NewJob, change: JobInput): Promise<NewJob> {
  const { session_id: session, requires_auth: requiresAuth } = after.recipe as Recipe;
  if (after.kind === "workflow" || (session === null && !requiresAuth)) return after;
  const originOf = (job: NewJob) => new URL(fetchedUrl(pageOf(job))).origin;
  const isChanged =
    change.session_id !== undefined ||
    change.crawl?.session_id !== undefined ||
    requiresAuth !== (before.recipe as Recipe).requires_auth;
  return isChanged || originOf(before) !== originOf(after) ? withSession(deps, after) : after;
}

/** Keeps the next occurrence unless the schedule changed; it may be due right now. */
function keepOccurrence(before: JobRecord, after: NewJob): JobChange {
  const times = ({ recipe }: NewJob) => {
    const { schedule } = recipe as Recipe;
    return schedule === null ? null : [schedule.cron, schedule.timezone ?? "UTC", schedule.jitter_seconds];
  };
  // A removed schedule loses its pause: otherwise the next schedule would start paused.
  if (times(after) === null) return { ...after, schedulePausedAt: null };
  return isDeepStrictEqual(times(before), times(after)) ? without(after, "nextAt", "nextOccurrenceAt") : after;
}

/** The job as input, without its secrets. */
export function inputOf(
  job: Pick<JobRecord, "name" | "tags" | "kind" | "url" | "recipe"> &
    Partial<Pick<JobRecord, "keepRuns" | "keepDays" | "onDegraded" | "fixtures" | "autoRepair">>,
): JobInput {
  const recipe = without(job.recipe as Recipe, "header_names", "cookie_names", "sealed", "sealed_proxy");
  const { schedule, timezone } = recipe;
  const about: JobInput = {
    name: job.name,
    tags: job.tags,
    schedule,
    timezone,
    ...(job.keepRuns === undefined ? {} : { keep_runs: job.keepRuns }),
    ...(job.keepDays === undefined ? {} : { keep_days: job.keepDays }),
    ...((job.onDegraded ?? null) === null ? {} : { on_degraded: job.onDegraded! }),
    ...(job.fixtures === undefined || job.kind === "workflow" ? {} : { fixtures: job.fixtures }),
    ...(job.autoRepair === true ? { auto_repair: true } : {}),
    ...(recipe.monitor === undefined || recipe.monitor === null ? {} : { monitor: recipe.monitor }),
    ...(recipe.notify === undefined ? {} : { notify: recipe.notify }),
  };
  // A schedule that took its time zone from the job follows the job's time zone.
  if (schedule !== null && schedule.timezone === timezone) about.schedule = { ...schedule, timezone: null };
  if (job.kind === "workflow")
    return { ...about, kind: "workflow", workflow: toSourceInput((job.recipe as WorkflowRecipe).workflow) };
  if (job.kind === "crawl") return { ...about, kind: "crawl", crawl: toCrawlInput((job.recipe as CrawlRecipe).crawl) };
  return { target_url: job.url, ...recipe, ...about };
}

/**
 * Rejected while a run is active, unless it is cancelled as well. Runs stay, unless they are deleted as well: deletion
 * continues in the background, and the response is its progress.
 */
export async function deleteJob(
  deps: JobDeps,
  id: string,
  options: { force: boolean; runs?: "keep" | "delete" },
): Promise<DeletionView | null> {
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
  const deletion = await deps.store.deleteJob(id, deps.clock.now(), { runs: options.runs === "delete" });
  if (deletion === null) return null;
  executeDeletions(deps);
  return showDeletion(deps, deletion.id);
}
