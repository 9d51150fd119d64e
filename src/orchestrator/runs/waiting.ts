/** What blocks a run: one implementation for lists, single reads, the CLI and the dashboard. */
import { isoOrNull } from "../../base/iso.ts";
import { lastFailure } from "../../domain/run/last-failure.ts";
import { type RunState, TERMINAL_RUN_STATES } from "../../domain/run/states.ts";
import { heldBySite, stateForWork, type WaitingView } from "../../domain/run/waiting.ts";
import { waitingSentence } from "../../domain/run/waiting-sentence.ts";
import type { RunRecord } from "../../store/ports/port.ts";
import type { StepRecord } from "../../store/ports/workflow-port.ts";
import { sentenceOf, type NoWorkers } from "../workers/worker-availability.ts";
import { listHeldSites, type RunSiteDeps, type RunSiteView } from "./sites.ts";
import { retryOf, type StepWaiting, toStepWaiting } from "./step-waiting.ts";

export interface RunWaitDeps extends RunSiteDeps {
  /** Maximum of running crawls; others wait. */
  maxConcurrentCrawls: number;
}

const because = (
  reason: WaitingView["reason"],
  message: string,
  more: Partial<Pick<WaitingView, "until" | "last_failure">> = {},
): WaitingView => ({ reason, until: more.until ?? null, message, last_failure: more.last_failure ?? null });

const BY_STATUS: Partial<Record<RunState, WaitingView>> = {
  paused: because("run_paused", "Paused: resume it to continue"),
  waiting_for_human: because("person", "Waiting for a person"),
};

/** `still`: why no worker accepts work. */
export async function waitingOfRun(
  deps: RunWaitDeps,
  run: RunRecord,
  noWorkers: NoWorkers | null,
): Promise<WaitingView | null> {
  const { hold, status } = run;
  if (TERMINAL_RUN_STATES.includes(status)) return null;
  if (hold && status !== "paused") return because(hold.reason, hold.message, { until: isoOrNull(hold.until) });
  // A queued workflow has not been started by its user: that does not depend on workers.
  const isWanted = status === "running" || status === "recovering" || (status === "queued" && run.kind !== "workflow");
  if (noWorkers !== null && isWanted && !noWorkers.runs.has(run.id))
    return because(noWorkers.reason, noWorkersMessage(run, noWorkers));
  const state = stateForWork(run);
  if (state === "queued") return run.kind === "crawl" ? waitsForTurn(deps) : null;
  const byStatus = BY_STATUS[state];
  if (byStatus !== undefined) return byStatus;
  if (state !== "running") return null;
  if (run.kind === "workflow") return waitingOfWorkflow(deps, run, noWorkers);
  return (await heldElsewhere(deps, run)) ?? heldFirst(await listHeldSites(deps, run, noWorkers));
}

/** The reason plus the hint that fits this kind of run. */
function noWorkersMessage({ id, kind }: RunRecord, noWorkers: NoWorkers): string {
  const words = sentenceOf(noWorkers);
  if (noWorkers.reason !== "no_worker") return words;
  if (kind === "crawl") return `${words}; orb crawl --resume ${id} continues it in this terminal`;
  return kind === "workflow" ? `${words}; orb workflows resume ${id} --wait continues it in this terminal` : words;
}

/** A run created a moment ago is about to start. */
async function waitsForTurn({ store, maxConcurrentCrawls: most }: RunWaitDeps): Promise<WaitingView | null> {
  const { running } = await store.crawlCounts();
  if (running < most) return null;
  return because("turn", `Waiting for a crawl slot: ${running} of ${most} crawls are running`);
}

/** A page that was redirected to another site waits there. */
async function heldElsewhere({ store, clock }: RunSiteDeps, run: RunRecord): Promise<WaitingView | null> {
  const { waits_at: other = null } = run.facts;
  const site = other === null ? null : await store.site(other);
  const held = site === null ? null : heldBySite(site, 0, clock.now());
  if (site === null || held === null) return null;
  const last = site.lastFailure && held.reason !== "site_paused" ? lastFailure(site.lastFailure) : null;
  const message = `${site.site}: ${waitingSentence(held, { last })}`;
  return because(held.reason, message, { until: isoOrNull(held.until), last_failure: last });
}

/** Sorts after every timestamp. */
const LAST = "~";

function soonest(waits: readonly WaitingView[]): WaitingView | null {
  const [first = null] = waits.toSorted((a, b) => (a.until ?? LAST).localeCompare(b.until ?? LAST));
  return first;
}

/** Of several blocking sites, the one that continues first. */
function heldFirst(sites: readonly RunSiteView[]): WaitingView | null {
  return soonest(
    sites.flatMap(({ site, waiting_for: why }) =>
      why === null ? [] : [{ ...why, message: `${site}: ${why.message}` }],
    ),
  );
}

/** Number of steps checked individually: few workflows have more running at once. */
const MOST_STEPS = 20;

/** A workflow waits when all its started steps do: for a retry, or for a child run that waits itself. */
async function waitingOfWorkflow(
  deps: RunWaitDeps,
  run: RunRecord,
  noWorkers: NoWorkers | null,
): Promise<WaitingView | null> {
  const open = (await deps.store.stepsInBrief(run.id)).filter(({ task }) => BEGUN.has(task.state));
  const waits: WaitingView[] = [];
  for (const step of open.slice(0, MOST_STEPS)) {
    const why = await whyStepWaits(deps, step, noWorkers);
    if (why === null) return null;
    waits.push({ ...why, message: `Step ${step.name}: ${why.message}` });
  }
  return soonest(waits);
}

const BEGUN: ReadonlySet<string> = new Set(["queued", "running", "retrying"]);

/** Null: it is running, or sleeps as intended. */
async function whyStepWaits(
  deps: RunWaitDeps,
  step: StepRecord,
  noWorkers: NoWorkers | null,
): Promise<WaitingView | null> {
  const { task, waiting } = step;
  if (task.state !== "retrying") return null;
  if (waiting === null) {
    const { until, message, last_failure } = retryOf(step);
    return because("retry", message, { until, last_failure });
  }
  const child = waiting.for === "run" ? await deps.store.run(waiting.runId) : null;
  return child === null ? null : waitingOfRun(deps, child, noWorkers);
}

/** What a step waits for, with the reason of its child run. */
async function waitingOfStep(
  deps: RunWaitDeps,
  step: StepRecord,
  noWorkers: NoWorkers | null,
): Promise<StepWaiting | null> {
  const { task, waiting } = step;
  // A pausing worker may have claimed it already.
  const isReady = task.state === "queued" || (task.state === "running" && waiting === null);
  if (isReady && noWorkers !== null && !noWorkers.lanes.has(task.lane))
    return { for: "worker", message: sentenceOf(noWorkers), last_failure: null };
  if (waiting?.for !== "run" || task.state !== "retrying") return toStepWaiting(step);
  const run = await deps.store.run(waiting.runId);
  if (run === null) return toStepWaiting(step);
  const { totals } = await deps.store.overview(run.id, 0);
  return toStepWaiting(step, { run, counts: totals, waits: await waitingOfRun(deps, run, noWorkers) });
}

/** The same for many steps; those after the first `MOST_STEPS` have no reason. */
export async function waitingOfSteps(
  deps: RunWaitDeps,
  steps: readonly StepRecord[],
  noWorkers: NoWorkers | null,
): Promise<(StepWaiting | null)[]> {
  let looked = 0;
  const waits: (StepWaiting | null)[] = [];
  for (const step of steps) {
    const isRun = step.waiting?.for === "run";
    if (isRun) looked += 1;
    waits.push(isRun && looked > MOST_STEPS ? toStepWaiting(step) : await waitingOfStep(deps, step, noWorkers));
  }
  return waits;
}
