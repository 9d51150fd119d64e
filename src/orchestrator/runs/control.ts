import { isOrbError, OrbError } from "../../base/errors.ts";
import type { PageSnapshot } from "../../domain/run/recipe.ts";
import { type RunState, TERMINAL_RUN_STATES } from "../../domain/run/states.ts";
import type { RunRecord, TaskRecord } from "../../store/ports/port.ts";
import type { OrchestratorDeps } from "../deps.ts";
import { admitCrawls, type AdmissionDeps } from "../crawls/turns.ts";
import { requireSessionFor } from "../session-for-page.ts";
import { refuseUnlessFit } from "../workflows/refusals.ts";

/** Tasks ended per transaction; more would block other writers. */
const CHUNK = 1000;

export async function requireRun({ store }: Pick<OrchestratorDeps, "store">, id: string): Promise<RunRecord> {
  const run = await store.run(id);
  if (run === null) throw new OrbError("not_found", `there is no run with the id ${id}`);
  return run;
}

/** A task of this run; `not_found` for tasks of other runs. */
export async function requireTask(
  { store }: Pick<OrchestratorDeps, "store">,
  runId: string,
  taskId: string,
): Promise<TaskRecord> {
  const task = await store.task(taskId);
  if (task === null || task.runId !== runId)
    throw new OrbError("not_found", `run ${runId} has no task with the id ${taskId}`);
  return task;
}

/** The run is cancelled when this returns; running tasks are aborted within a second. Idempotent. */
export async function cancelRun(deps: OrchestratorDeps, id: string): Promise<RunRecord> {
  const run = await requireRun(deps, id);
  // A cancelled run never reopens, so new items would have no run.
  if (run.kind === "queue")
    throw new OrbError("illegal_transition", "the queue is a permanent run and cannot be cancelled", {
      hint: "Pause it instead.",
    });
  if (run.kind === "workflow" && run.status !== "cancelled") refuseUnlessFit("cancel", run.status);
  const cancelled =
    run.status === "cancelled"
      ? run
      : await change(deps, id, "cancelled", "Run cancelled", (status) => status === "cancelled");
  await dropWork(deps, [id]);
  return cancelled;
}

/** A run that ended or was deleted in between counts as cancelled. */
export async function cancelUnlessEnded(deps: OrchestratorDeps, id: string): Promise<void> {
  try {
    await cancelRun(deps, id);
  } catch (error) {
    if (!isOrbError(error, "illegal_transition") && !isOrbError(error, "not_found")) throw error;
    const status = (await deps.store.runStates([id])).get(id);
    if (status !== undefined && !TERMINAL_RUN_STATES.includes(status)) throw error;
  }
}

/** Runs were ended: aborts their running tasks and ends waiting ones. A duty does the rest if there are many. */
export async function dropWork(deps: OrchestratorDeps, ids: readonly string[]): Promise<void> {
  await deps.wake(null);
  for (const id of ids) await deps.store.sweepEnded(CHUNK, deps.clock.now(), id);
}

/** Running tasks finish; no new one starts. */
export async function pauseRun(deps: OrchestratorDeps, id: string): Promise<RunRecord> {
  const run = await requireRun(deps, id);
  if (run.status === "paused") return run;
  if (run.kind === "workflow") refuseUnlessFit("pause", run.status);
  const paused = await change(deps, id, "paused", "Run paused", (status) => status === "paused");
  await deps.wake(null);
  return paused;
}

/** A crawl is queued while the maximum number of crawls is running. */
export async function resumeRun(deps: AdmissionDeps, id: string): Promise<RunRecord> {
  const run = await requireRun(deps, id);
  const isCrawl = run.kind === "crawl";
  const isDone = (status: RunState) => status === "running" || (isCrawl && status === "queued");
  if (isDone(run.status)) return run;
  if (run.kind === "workflow") refuseUnlessFit("resume", run.status);
  if (run.status !== "paused")
    throw new OrbError("illegal_transition", `a run that is ${run.status} cannot be resumed`, {
      hint:
        run.status === "waiting_for_human"
          ? "It waits for a person: resolve it with a session, or skip it."
          : run.status === "cancelled"
            ? "A cancelled run cannot be resumed: start a new run instead."
            : "Only a paused run can be resumed. To reopen an ended run that has failed tasks, use retry-failed.",
    });
  const resumed = await change(deps, id, isCrawl ? "queued" : "running", "Run resumed", isDone);
  if (!isCrawl) {
    await deps.wake(await lanesOf(deps, id));
    return resumed;
  }
  await admitCrawls(deps);
  return requireRun(deps, id);
}

/** If another process did it meanwhile, that counts as success. */
async function change(
  deps: OrchestratorDeps,
  id: string,
  to: RunState,
  message: string,
  isDone: (status: RunState) => boolean,
): Promise<RunRecord> {
  try {
    return await deps.store.changeRun(id, to, message, deps.clock.now());
  } catch (error) {
    const now = await deps.store.run(id);
    if (now !== null && isDone(now.status)) return now;
    throw error;
  }
}

async function lanesOf({ store }: OrchestratorDeps, id: string): Promise<string[]> {
  return (await store.overview(id, 1000)).open.map(({ lane }) => lane);
}

/** A person's answer to a waiting run. */
export async function resolveRun(
  deps: OrchestratorDeps,
  id: string,
  answer: { session_id: string } | { skip: true },
): Promise<RunRecord> {
  const { kind, snapshot } = await requireRun(deps, id);
  if ("session_id" in answer) {
    if (kind !== "page")
      throw new OrbError("illegal_transition", "only a run of one page can be continued with a session");
    const session = await requireSessionFor(deps, answer.session_id, snapshot as PageSnapshot);
    const run = await deps.store.answerHuman(id, { sessionId: session.id }, deps.clock.now());
    await deps.wake(await lanesOf(deps, id));
    return run;
  }
  const why = "a person skipped this page";
  const run = await deps.store.answerHuman(id, { skip: why }, deps.clock.now());
  await deps.wake(null);
  return run;
}
