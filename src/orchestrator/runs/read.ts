import { OrbError } from "../../base/errors.ts";
import { without } from "../../base/without.ts";
import { crawlKey } from "../../domain/crawl/crawl-scope.ts";
import type { PageSnapshot } from "../../domain/run/recipe.ts";
import type { TaskCounts } from "../../domain/run/run-end.ts";
import type { TaskState } from "../../domain/run/states.ts";
import type { TaskOrder } from "../../domain/lane/task-order.ts";
import type { RunFilter } from "../../store/records/job-records.ts";
import type { EventWindow, RunRecord, TaskRecord } from "../../store/ports/port.ts";
import type { RunErrorRecord } from "../../store/ports/progress-port.ts";
import type { OrchestratorDeps } from "../deps.ts";
import { invalid } from "../invalid.ts";
import { type NoWorkers, noWorkersReason } from "../workers/worker-availability.ts";
import { requireRun, requireTask } from "./control.ts";
import { withoutDeleted } from "./without-deleted.ts";
import {
  type ArtifactView,
  type EventView,
  type ResultView,
  type RunView,
  type TaskView,
  toArtifactView,
  toEventView,
  toResultView,
  type RunViewRules,
  toRunView,
  toTaskView,
} from "./view.ts";
import { type RunWaitDeps, waitingOfRun } from "./waiting.ts";

export interface RunReadDeps extends RunWaitDeps, RunViewRules {}

export async function viewOf(deps: RunReadDeps, run: RunRecord): Promise<RunView> {
  return viewAt(deps, run, await noWorkersReason(deps));
}

export interface RunTotals {
  counts: TaskCounts;
  /** Crawls only. */
  errors: RunErrorRecord[];
}

export async function totalsOf({ store }: OrchestratorDeps, { id, kind }: RunRecord): Promise<RunTotals> {
  const { totals: counts } = await store.overview(id, 0);
  // Pages blocked by robots.txt count as failed.
  return { counts, errors: kind === "crawl" && counts.failed > 0 ? await store.runErrors(id) : [] };
}

/** `totals` are read unless passed. */
export async function viewAt(
  deps: RunReadDeps,
  run: RunRecord,
  noWorkers: NoWorkers | null,
  totals?: RunTotals,
): Promise<RunView> {
  const waiting = await waitingOfRun(deps, run, noWorkers);
  // A page run has no progress, and a workflow counts its steps.
  if (run.kind === "page" || run.kind === "workflow") return toRunView(run, deps, { waiting });
  return toRunView(run, deps, { waiting, ...(totals ?? (await totalsOf(deps, run))) });
}

export async function showRun(deps: RunReadDeps, id: string): Promise<RunView> {
  return viewOf(deps, await requireRun(deps, id));
}

export async function listRuns(deps: RunReadDeps, filter: RunFilter): Promise<RunView[]> {
  const noWorkers = await noWorkersReason(deps);
  return withoutDeleted((await deps.store.runs(filter)).map((run) => viewAt(deps, run, noWorkers)));
}

export async function listEvents(
  { store }: OrchestratorDeps,
  runId: string,
  window: EventWindow,
): Promise<EventView[]> {
  return (await store.events(runId, window)).map((event) => toEventView(event, runId));
}

export async function showArtifact({ store }: OrchestratorDeps, id: string): Promise<ArtifactView> {
  const file = await store.artifact(id);
  if (file === null) throw new OrbError("not_found", `there is no artifact with the id ${id}`);
  return toArtifactView(file);
}

export async function listTasks(
  deps: OrchestratorDeps,
  runId: string,
  filter: {
    states?: readonly TaskState[];
    retryable?: boolean;
    q?: string;
    order?: TaskOrder;
    after?: string;
    limit: number;
  },
): Promise<TaskView[]> {
  const run = await requireRun(deps, runId);
  const tasks = await deps.store.tasks(runId, filter);
  return Promise.all(tasks.map((task) => taskViewOf(deps, run, task)));
}

export async function showTask(deps: OrchestratorDeps, runId: string, taskId: string): Promise<TaskView> {
  const run = await requireRun(deps, runId);
  return taskViewOf(deps, run, await requireTask(deps, runId, taskId));
}

async function taskViewOf({ store }: OrchestratorDeps, run: RunRecord, task: TaskRecord): Promise<TaskView> {
  const view = toTaskView(task, task.site ?? task.lane, await store.artifactsOf(task.id));
  // A page run reports the size of its page.
  const size = run.kind === "page" ? (run.facts.stats?.content_length ?? null) : null;
  return size === null ? view : { ...view, size: view.size ?? size };
}

/** Total length of a list of runs, counted up to `most`. */
export async function countListed({ store }: OrchestratorDeps, filter: RunFilter, most: number): Promise<number> {
  return store.countRunsLike({ ...without(filter, "after"), limit: most });
}

export async function listResults(
  deps: OrchestratorDeps,
  runId: string,
  window: { after?: string; limit: number },
): Promise<ResultView[]> {
  return resultsOf(deps, await requireRun(deps, runId), window);
}

async function resultsOf(
  { store }: OrchestratorDeps,
  { id, kind }: RunRecord,
  window: { after?: string; limit: number },
): Promise<ResultView[]> {
  const found = (await store.results(id, window)).map(toResultView);
  return kind === "crawl" ? found.map(atItsAddress) : found;
}

/** A page's item carries its URL; a redirect may have led there. */
function atItsAddress(result: ResultView): ResultView {
  const url = result.data["url"];
  return typeof url === "string" ? { ...result, url } : result;
}

const PAGE = 500;

/** All records of a run, read page by page at the consumer's pace. */
export async function* allResults(deps: OrchestratorDeps, runId: string): AsyncGenerator<ResultView> {
  yield* allResultsOf(deps, await requireRun(deps, runId));
}

export async function* allResultsOf(deps: OrchestratorDeps, run: RunRecord): AsyncGenerator<ResultView> {
  for await (const page of resultPages(deps, run)) yield* page;
}

/** Throws when the run is deleted meanwhile: a part of its records must not look like all of them. */
async function* resultPages(deps: OrchestratorDeps, run: RunRecord): AsyncGenerator<ResultView[]> {
  let after: string | undefined;
  for (;;) {
    const page = await resultsOf(deps, run, { limit: PAGE, ...(after === undefined ? {} : { after }) });
    yield page;
    after = page.at(-1)?.id;
    if (page.length < PAGE || after === undefined) return;
  }
}

/**
 * Records of pages that a saved crawl found new or changed, each with its `change`. Of a first run, which has nothing
 * to compare with, all of them.
 */
export async function* changedResults(deps: OrchestratorDeps, run: RunRecord): AsyncGenerator<ResultView> {
  if (run.facts.changes === undefined) return yield* allResultsOf(deps, run);
  for await (const page of resultPages(deps, run)) {
    const changes = await deps.store.changesAmong(
      run.id,
      page.map(({ url }) => crawlKey(url)),
    );
    for (const [index, result] of page.entries()) {
      const change = changes[index] ?? null;
      if (change !== null) yield { ...result, data: { ...result.data, change } };
    }
  }
}

/** Only runs of saved crawls are compared with earlier ones. */
export function requireComparable({ kind, jobId }: RunRecord): void {
  if (kind === "crawl" && jobId !== null) return;
  throw invalid([
    {
      path: "query.only_changed",
      message:
        "is only for runs of saved crawls, which are compared with the previous run: save the crawl as a job (POST /jobs, orb jobs create --crawl), or remove it",
    },
  ]);
}

/** Field names, if the recipe has them: a table then has its columns before its first row. */
export function columnsOf({ snapshot }: RunRecord): string[] | null {
  const fields = (snapshot as Partial<PageSnapshot> | null)?.recipe?.fields;
  if (Array.isArray(fields)) return fields as string[];
  return typeof fields === "object" && fields !== null ? Object.keys(fields) : null;
}
