import { OrbError } from "../../base/errors.ts";
import type { PageSnapshot } from "../../domain/recipe.ts";
import type { TaskState } from "../../domain/states.ts";
import { type HeldAtSite, heldBySite, stateForWork } from "../../domain/waiting.ts";
import { waitingSentence } from "../../domain/waiting-sentence.ts";
import type { RunFilter } from "../../store/job-records.ts";
import type { RunRecord } from "../../store/port.ts";
import type { OrchestratorDeps } from "../deps.ts";
import { type Standstill, standstill } from "../workforce.ts";
import { requireRun } from "./control.ts";
import { stillThere } from "./still-there.ts";
import {
  type ArtifactView,
  type EventView,
  type ResultView,
  type RunView,
  type RunWaits,
  type TaskView,
  toArtifactView,
  toEventView,
  toResultView,
  toRunView,
  toTaskView,
} from "./view.ts";

interface ReadDeps extends OrchestratorDeps {
  defaultMaxAttempts: number;
}

export async function viewOf(deps: ReadDeps, run: RunRecord): Promise<RunView> {
  return viewAt(deps, run, await standstill(deps));
}

async function viewAt(deps: ReadDeps, run: RunRecord, still: Standstill | null): Promise<RunView> {
  // A run of one page has no half-way, and a workflow keeps count of its own.
  if (run.kind === "page")
    return toRunView(run, deps.defaultMaxAttempts, { still, atSite: await keptWaiting(deps, run) });
  if (run.kind === "workflow") return toRunView(run, deps.defaultMaxAttempts, { still });
  return toRunView(run, deps.defaultMaxAttempts, { still, counts: (await deps.store.overview(run.id, 0)).totals });
}

const SITES_OF_A_PAGE = 10;

/** What keeps a page from being fetched, wherever redirects have led it. */
async function keptWaiting({ store, clock }: ReadDeps, run: RunRecord): Promise<RunWaits | null> {
  if (stateForWork(run) !== "running") return null;
  const sites = await store.runSites(run.id, { limit: SITES_OF_A_PAGE });
  const at = sites.find(({ counts }) => counts.queued + counts.retrying > 0);
  if (at === undefined) return null;
  const { site, laneRunning, waitsFor } = at;
  const dependent: HeldAtSite | null = waitsFor.length > 0 ? { reason: "depends_on", until: null } : null;
  const waiting = heldBySite(site, laneRunning, clock.now()) ?? dependent;
  if (waiting === null) return null;
  const { reason, until } = waiting;
  const message = `${site.site}: ${waitingSentence(waiting, waitsFor)}`;
  return { reason, until: until === null ? null : new Date(until).toISOString(), message };
}

export async function showRun(deps: ReadDeps, id: string): Promise<RunView> {
  return viewOf(deps, await requireRun(deps, id));
}

export async function listRuns(deps: ReadDeps, filter: RunFilter): Promise<RunView[]> {
  const still = await standstill(deps);
  return stillThere((await deps.store.runs(filter)).map((run) => viewAt(deps, run, still)));
}

export async function listEvents(
  { store }: OrchestratorDeps,
  runId: string,
  window: { after?: string; limit: number },
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
  filter: { states?: readonly TaskState[]; after?: string; limit: number },
): Promise<TaskView[]> {
  const { store } = deps;
  await requireRun(deps, runId);
  const tasks = await store.tasks(runId, filter);
  return Promise.all(
    tasks.map(async (task) => toTaskView(task, task.site ?? task.lane, await store.artifactsOf(task.id))),
  );
}

export async function listResults(
  deps: OrchestratorDeps,
  runId: string,
  window: { after?: string; limit: number },
): Promise<ResultView[]> {
  const { kind } = await requireRun(deps, runId);
  const found = (await deps.store.results(runId, window)).map(toResultView);
  return kind === "crawl" ? found.map(atItsAddress) : found;
}

/** The item of a page of a crawl says where the page is; a redirect may have led there. */
function atItsAddress(result: ResultView): ResultView {
  const url = result.data["url"];
  return typeof url === "string" ? { ...result, url } : result;
}

const PAGE = 500;

/** All records of a run, a page of them at a time: the reader's pace decides. */
export async function* allResults(deps: OrchestratorDeps, runId: string): AsyncGenerator<ResultView> {
  let after: string | undefined;
  for (;;) {
    const page = await listResults(deps, runId, { limit: PAGE, ...(after === undefined ? {} : { after }) });
    yield* page;
    after = page.at(-1)?.id;
    if (page.length < PAGE || after === undefined) return;
  }
}

/** The names of the fields, when the recipe names them: a table then has its columns before its first row. */
export async function columnsOf(deps: OrchestratorDeps, runId: string): Promise<string[] | null> {
  const { snapshot } = await requireRun(deps, runId);
  const fields = (snapshot as Partial<PageSnapshot> | null)?.recipe?.fields;
  if (Array.isArray(fields)) return fields as string[];
  return typeof fields === "object" && fields !== null ? Object.keys(fields) : null;
}
