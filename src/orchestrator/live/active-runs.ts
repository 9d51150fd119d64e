import { crawlEta } from "../../domain/crawl/crawl-eta.ts";
import { crawlOptionsOf } from "../../domain/crawl/crawl-options.ts";
import type { TaskCounts } from "../../domain/run/run-end.ts";
import { WHILE_AT_WORK } from "../../domain/run/waiting.ts";
import type { RunRecord } from "../../store/ports/port.ts";
import { ranInAllMs, ranMs, waitingPages } from "../crawls/view.ts";
import { type RunReadDeps, type RunTotals, totalsOf, viewAt } from "../runs/read.ts";
import { countUnderWay } from "../runs/sites.ts";
import { pagesOfCrawl } from "../runs/skips.ts";
import { withoutDeleted } from "../runs/without-deleted.ts";
import type { RunView } from "../runs/view.ts";
import { rounded } from "../sites/site-view.ts";
import type { NoWorkers } from "../workers/worker-availability.ts";
import { type CurrentStep, currentSteps } from "./current-steps.ts";
import { Pace } from "./pace.ts";

const SHOWN = [
  "id",
  "job_id",
  "kind",
  "name",
  "url",
  "url_count",
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

/** A running run, with the columns of a table. */
export interface LiveRun extends Pick<RunView, (typeof SHOWN)[number]> {
  /** Of a workflow: its current steps. */
  current_steps: CurrentStep[];
  counts: Record<"queued" | "running" | "retrying" | "completed" | "failed" | "skipped", number>;
  /** Tasks that ended, completed or failed, over the last ten seconds. */
  per_second: number;
  /** At that rate; null: unknown. */
  eta_seconds: number | null;
  /** Crawl: if it keeps finding pages at the recent rate; null: unknown. */
  eta_most_seconds: number | null;
}

function picked(view: RunView): Pick<RunView, (typeof SHOWN)[number]> {
  return Object.fromEntries(SHOWN.map((name) => [name, view[name]])) as Pick<RunView, (typeof SHOWN)[number]>;
}

type ActiveRunDeps = RunReadDeps;
type EtaView = Pick<LiveRun, "eta_seconds" | "eta_most_seconds">;
const NO_ETA: EtaView = { eta_seconds: null, eta_most_seconds: null };

/** Remembers the progress of runs, to compute their rate. */
export class ActiveRuns {
  readonly #paces = new Map<string, Pace>();
  readonly #found = new Map<string, Pace>();

  /** Reports `ended` runs one last time, then drops them. */
  async look(
    deps: ActiveRunDeps,
    { runs, ended }: { runs: readonly RunRecord[]; ended: readonly RunRecord[] },
    noWorkers: NoWorkers | null,
  ): Promise<{ runs: LiveRun[]; ended: LiveRun[] }> {
    const views = (list: readonly RunRecord[]) => withoutDeleted(list.map((run) => this.#view(deps, run, noWorkers)));
    const looked = { runs: await views(runs), ended: await views(ended) };
    const shown = new Set(runs.map(({ id }) => id));
    for (const paces of [this.#paces, this.#found]) for (const id of paces.keys()) if (!shown.has(id)) paces.delete(id);
    return looked;
  }

  async #view(deps: ActiveRunDeps, run: RunRecord, noWorkers: NoWorkers | null): Promise<LiveRun> {
    const totals = await totalsOf(deps, run);
    const { counts } = totals;
    const view = await viewAt(deps, run, noWorkers, totals);
    const isRunning = run.status === "running";
    // While a run waits or is paused, nothing ends: its rate is measured again afterwards. Between two requests of a
    // paced site the rate stays.
    const why = view.waiting_for;
    const isHeld = !isRunning || (why !== null && !WHILE_AT_WORK.has(why.reason));
    if (isHeld) for (const paces of [this.#paces, this.#found]) paces.delete(run.id);
    const perSecond = isHeld ? 0 : this.#pace(deps, run, counts);
    return {
      ...picked(view),
      current_steps: await currentSteps(deps, run, noWorkers),
      counts: await shownCounts(deps, run, totals, noWorkers),
      per_second: rounded(perSecond, 1),
      ...(isRunning && !isHeld ? this.#eta(deps, run, counts, perSecond) : NO_ETA),
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
      // A crawl keeps more links than it may fetch.
      allowed: run.kind === "crawl" ? crawlOptionsOf(run).max_pages - counts.completed - counts.failed : open,
      perSecond,
      foundPerSecond: run.kind === "crawl" ? (found.read()?.good ?? null) : 0,
      ended: endedOf(counts),
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
    // On the first sample only the overall progress is known; a run without a time limit has no counted time.
    const ran = run.timeLimitMs === null ? 0 : ranInAllMs(run, clock.now());
    return ran < 1000 ? 0 : (endedOf(counts) * 1000) / ran;
  }
}

function endedOf({ completed, failed, skipped }: TaskCounts): number {
  return completed + failed + skipped;
}

/** Crawl: the counts of its status view, within its limits, computed from the claimed pages. */
async function shownCounts(
  deps: ActiveRunDeps,
  run: RunRecord,
  { counts, errors }: RunTotals,
  noWorkers: NoWorkers | null,
): Promise<LiveRun["counts"]> {
  const { pending, queued, running, retrying, completed, failed, skipped } = counts;
  if (run.kind !== "crawl") return { queued: pending + queued, running, retrying, completed, failed, skipped };
  const underWay = await countUnderWay(deps, run, running, noWorkers);
  const total = pagesOfCrawl(run, counts, errors);
  const waiting = waitingPages(counts, total, underWay);
  const again = Math.min(retrying, waiting);
  return { queued: waiting - again, running: underWay, retrying: again, completed, failed, skipped };
}

/** Below this, extrapolating from progress is too inaccurate. */
const TELLING_PERCENT = 5;

/** The time a reopened workflow was closed is unknown. */
function etaByProgress({ progress, startedAt, generation, facts }: RunRecord, now: number): number | null {
  if (startedAt === null || generation > 1 || progress < TELLING_PERCENT) return null;
  const worked = now - startedAt - (facts.stopped_ms ?? 0);
  return worked <= 0 ? null : coarse((worked * (100 - progress)) / progress / 1000);
}

/** Rounds: a value that changes with every sample is unreadable. */
function coarse(seconds: number): number {
  return seconds < 60 ? Math.ceil(seconds) : Math.ceil(seconds / 5) * 5;
}
