import { crawlEta } from "../../domain/crawl-eta.ts";
import type { CrawlSnapshot } from "../../domain/crawl-options.ts";
import type { TaskCounts } from "../../domain/run-end.ts";
import type { RunRecord } from "../../store/port.ts";
import { ranInAllMs, ranMs } from "../crawls/view.ts";
import { type RunReadDeps, viewAt } from "../runs/read.ts";
import { listWaitingSites } from "../runs/sites.ts";
import { stillThere } from "../runs/still-there.ts";
import { heldFirst } from "../runs/waiting.ts";
import type { RunView } from "../runs/view.ts";
import { rounded } from "../site-view.ts";
import type { Standstill } from "../workforce.ts";
import { type CurrentStep, currentSteps } from "./current-steps.ts";
import { Pace } from "./pace.ts";

const SHOWN = [
  "id",
  "job_id",
  "kind",
  "name",
  "url",
  "site",
  "status",
  "progress",
  "waiting_for",
  "message",
  "failure_code",
  "failure_reason",
  "created_at",
  "started_at",
  "finished_at",
] as const satisfies readonly (keyof RunView)[];

/** A run that goes on, in as few words as a table needs. */
export interface LiveRun extends Pick<RunView, (typeof SHOWN)[number]> {
  /** Of a workflow: the steps it is at. */
  current_steps: CurrentStep[];
  counts: Record<"queued" | "running" | "retrying" | "completed" | "failed" | "skipped", number>;
  /** What ended of it, good or bad, over the last ten seconds. */
  per_second: number;
  /** By that pace; null: nobody can tell. */
  eta_seconds: number | null;
  /** Of a crawl: if it goes on finding pages as it did lately; null: nobody can tell. */
  eta_most_seconds: number | null;
}

function picked(view: RunView): Pick<RunView, (typeof SHOWN)[number]> {
  return Object.fromEntries(SHOWN.map((name) => [name, view[name]])) as Pick<RunView, (typeof SHOWN)[number]>;
}

type ActiveRunDeps = RunReadDeps;
type EtaView = Pick<LiveRun, "eta_seconds" | "eta_most_seconds">;
const NO_ETA: EtaView = { eta_seconds: null, eta_most_seconds: null };

/** Remembers how far runs were, to tell how fast they are. */
export class ActiveRuns {
  readonly #paces = new Map<string, Pace>();
  readonly #found = new Map<string, Pace>();

  /** Of `ended` it tells the last; they are forgotten. */
  async look(
    deps: ActiveRunDeps,
    { runs, ended }: { runs: readonly RunRecord[]; ended: readonly RunRecord[] },
    still: Standstill | null,
  ): Promise<{ runs: LiveRun[]; ended: LiveRun[] }> {
    const views = (list: readonly RunRecord[]) => stillThere(list.map((run) => this.#view(deps, run, still)));
    const looked = { runs: await views(runs), ended: await views(ended) };
    const shown = new Set(runs.map(({ id }) => id));
    for (const paces of [this.#paces, this.#found]) for (const id of paces.keys()) if (!shown.has(id)) paces.delete(id);
    return looked;
  }

  async #view(deps: ActiveRunDeps, run: RunRecord, still: Standstill | null): Promise<LiveRun> {
    const { totals: counts } = await deps.store.overview(run.id, 0);
    const view = await viewAt(deps, run, still, counts);
    const isRunning = run.status === "running";
    const perSecond = isRunning ? this.#pace(deps, run, counts) : 0;
    const waiting_for =
      view.waiting_for ??
      (perSecond === 0 && isRunning && run.kind !== "workflow" && run.kind !== "page"
        ? heldFirst(await listWaitingSites(deps, run))
        : null);
    return {
      ...picked(view),
      waiting_for,
      current_steps: await currentSteps(deps, run),
      counts: shownCounts(counts),
      per_second: rounded(perSecond, 1),
      ...(isRunning ? this.#eta(deps, run, counts, perSecond) : NO_ETA),
    };
  }

  #eta({ clock }: RunReadDeps, run: RunRecord, counts: TaskCounts, perSecond: number): EtaView {
    if (run.kind === "workflow") return { ...NO_ETA, eta_seconds: etaByProgress(run, clock.now()) };
    if (run.kind === "page") return NO_ETA;
    let found = this.#found.get(run.id);
    if (found === undefined) this.#found.set(run.id, (found = new Pace()));
    found.note(clock.monotonic(), { good: run.pagesKnown, bad: 0 });
    const open = counts.pending + counts.queued + counts.running + counts.retrying;
    const eta = crawlEta({
      open,
      // More links are kept than a crawl may fetch.
      allowed:
        run.kind === "crawl"
          ? (run.snapshot as CrawlSnapshot).options.max_pages - counts.completed - counts.failed
          : open,
      perSecond,
      foundPerSecond: run.kind === "crawl" ? (found.read()?.good ?? null) : 0,
      limitSeconds: run.timeLimitMs === null ? null : Math.max(0, run.timeLimitMs - ranMs(run, clock.now())) / 1000,
    });
    if (eta === null) return NO_ETA;
    return { eta_seconds: coarse(eta.least), eta_most_seconds: eta.most === null ? null : coarse(eta.most) };
  }

  #pace({ clock }: RunReadDeps, run: RunRecord, counts: TaskCounts): number {
    let pace = this.#paces.get(run.id);
    if (pace === undefined) this.#paces.set(run.id, (pace = new Pace()));
    pace.note(clock.monotonic(), { good: counts.completed + counts.skipped, bad: counts.failed });
    const now = pace.read();
    if (now !== null) return now.good + now.bad;
    // At the first look only what it did in all its time is known; the time of a run without a limit is not counted.
    const ran = run.timeLimitMs === null ? 0 : ranInAllMs(run, clock.now());
    return ran < 1000 ? 0 : (endedOf(counts) * 1000) / ran;
  }
}

function endedOf({ completed, failed, skipped }: TaskCounts): number {
  return completed + failed + skipped;
}

function shownCounts(counts: TaskCounts): LiveRun["counts"] {
  const { pending, queued, running, retrying, completed, failed, skipped } = counts;
  return { queued: pending + queued, running, retrying, completed, failed, skipped };
}

/** Before this much of it, its beginning says little of its end. */
const TELLING_PERCENT = 5;

/** Of a workflow that was opened again nobody knows how long it lay. */
function etaByProgress({ progress, startedAt, generation }: RunRecord, now: number): number | null {
  if (startedAt === null || generation > 1 || progress < TELLING_PERCENT) return null;
  return coarse(((now - startedAt) * (100 - progress)) / progress / 1000);
}

/** What changes with every look is not read by anybody. */
function coarse(seconds: number): number {
  return seconds < 60 ? Math.ceil(seconds) : Math.ceil(seconds / 5) * 5;
}
