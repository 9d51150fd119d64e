/** Workers: their state, and requests to them. */
import { sleep } from "../../base/clock.ts";
import { OrbError } from "../../base/errors.ts";
import { isoOf, isoOrNull } from "../../base/iso.ts";
import { mayBeAlive } from "../../base/machine.ts";
import type { Store } from "../../store/ports/port.ts";
import type { BrowserCount, WorkerRecord, WorkerState } from "../../store/ports/worker-port.ts";
import type { OrchestratorDeps } from "../deps.ts";
import { requireRun, requireTask } from "../runs/control.ts";

export interface WorkerView {
  id: string;
  machine: string;
  pid: number;
  command: string;
  version: string;
  state: WorkerState;
  role: WorkerRecord["role"];
  engine: string;
  database: "sqlite" | "postgres";
  /** Its last heartbeat. */
  heartbeat: string;
  in_flight: number;
  max_workers: number;
  /** Tasks that ended, per second, over the last ten seconds. */
  throughput: number;
  completed: number;
  failed: number;
  /** Bytes, with its browsers. */
  memory: number;
  paused: string | null;
  drain_asked: boolean;
  active: { task_id: string; run_id: string; lane: string; url: string | null; started_at: string }[];
  /** Remote browsers. */
  browsers: {
    name: string;
    state: BrowserCount["state"];
    pages: number;
    max_pages: number;
    version: string | null;
    problem: string | null;
    since: string | null;
  }[];
  started_at: string;
  stopped_at: string | null;
}

export function toWorkerView({ capabilities }: Pick<Store, "capabilities">, worker: WorkerRecord): WorkerView {
  return {
    id: worker.id,
    machine: worker.machine,
    pid: worker.identity.pid,
    command: worker.command,
    version: worker.version,
    state: shownState(worker),
    role: worker.role,
    engine: worker.engine,
    database: capabilities.singleEngine ? "sqlite" : "postgres",
    heartbeat: isoOf(worker.heartbeatAt),
    in_flight: worker.inFlight,
    max_workers: worker.maxWorkers,
    throughput: worker.tasksPerSecond,
    completed: worker.completed,
    failed: worker.failed,
    memory: worker.memoryBytes,
    paused: worker.paused,
    drain_asked: worker.drainRequested,
    active: worker.active.map(({ taskId, runId, lane, url, startedAt }) => ({
      task_id: taskId,
      run_id: runId,
      lane,
      url,
      started_at: isoOf(startedAt),
    })),
    browsers: (worker.browsers ?? []).map(({ name, state, pages, maxPages, version, problem }) => ({
      name,
      state,
      pages,
      max_pages: maxPages,
      version,
      problem: problem?.message ?? null,
      since: isoOrNull(problem?.since ?? null),
    })),
    started_at: isoOf(worker.startedAt),
    stopped_at: isoOrNull(worker.stoppedAt),
  };
}

/** A worker without heartbeats counts as lost; a dead process on this machine is detected at once. */
function shownState({ state, identity }: WorkerRecord): WorkerState {
  return state === "stopped" || mayBeAlive(identity) ? state : "lost";
}

const MOST = 1000;

/** Newest first; stopped ones only on request. */
export async function listWorkers(
  { store }: Pick<OrchestratorDeps, "store">,
  { all }: { all: boolean },
): Promise<WorkerView[]> {
  return (await store.workers({ live: !all, limit: MOST })).map((worker) => toWorkerView(store, worker));
}

export async function showWorker({ store }: Pick<OrchestratorDeps, "store">, id: string): Promise<WorkerView> {
  const worker = await store.worker(id);
  if (worker === null)
    throw new OrbError("not_found", `there is no worker with the id ${id}`, {
      hint: "orb workers lists all workers.",
    });
  return toWorkerView(store, worker);
}

/** It finishes its tasks and claims no more until it is resumed; it receives the request within a second. */
export async function drainWorker(
  { store }: Pick<OrchestratorDeps, "store">,
  id: string,
  drain: boolean,
): Promise<WorkerView> {
  const worker = await store.worker(id);
  if (worker?.state === "lost") throw workerUnreachable(worker);
  return toWorkerView(store, await store.askDrain(id, drain));
}

/** It may return in a moment or never, so the message promises nothing. */
function workerUnreachable({ id, command, identity, machine, heartbeatAt, drainRequested }: WorkerRecord): OrbError {
  const who = `orb ${command}, process ${identity.pid} on ${machine}`;
  const asked = drainRequested ? "; it was asked to drain before" : "";
  return new OrbError(
    "illegal_transition",
    `worker ${id} (${who}) has sent no heartbeat since ${isoOf(heartbeatAt)} and cannot be drained, resumed or pinged${asked}`,
    { hint: "Check whether the process is still running. Other workers take over its tasks; orb workers lists them." },
  );
}

export interface PingView {
  id: string;
  answered: boolean;
  /** Time until it answered or the timeout expired. */
  latency_ms: number;
}

const PING_MS = 5000;
const PING_LOOK_MS = 50;

/** Asks the worker for a sign of life and waits at most five seconds. */
export async function pingWorker(
  { store, clock }: Pick<OrchestratorDeps, "store" | "clock">,
  id: string,
): Promise<PingView> {
  const asked = clock.monotonic();
  const ping = await store.askPing(id);
  for (;;) {
    const answered = await store.pingAnswered(id, ping);
    const latency = Math.round(clock.monotonic() - asked);
    if (answered || latency >= PING_MS) return { id, answered, latency_ms: latency };
    await sleep(clock, PING_LOOK_MS);
  }
}

interface StoppedTaskView {
  task_id: string;
  run_id: string;
  /** `running`: its worker is notified, and the task ends within about a second. */
  state: "failed" | "running";
}

/** Ends a task without a result, wherever it runs: it fails as `task_stopped` and is not retried automatically. */
export async function stopTask(deps: OrchestratorDeps, runId: string, taskId: string): Promise<StoppedTaskView> {
  await requireRun(deps, runId);
  await requireTask(deps, runId, taskId);
  const { state, lanes } = await deps.store.stopTask(taskId, deps.clock.now());
  if (state === "running") await deps.wake(null);
  else if (lanes.length > 0) await deps.wake(lanes);
  return { task_id: taskId, run_id: runId, state };
}
