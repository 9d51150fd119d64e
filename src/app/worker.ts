/** The worker: composes everything that executes tasks. Part of the composition root. */
import { systemClock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import { type Gauge, processGauge } from "../base/gauge.ts";
import type { Log } from "../base/log.ts";
import { machineName, ownIdentity } from "../base/machine.ts";
import { systemRandom } from "../base/random.ts";
import { ServiceStack } from "../base/service.ts";
import { productVersion } from "../base/version.ts";
import { keepYoungHeapSmall } from "../base/process/young-heap.ts";
import type { Config } from "../config/options.ts";
import type { Engine, EngineRole } from "../engine/port.ts";
import type { PageReader } from "../extract/pool.ts";
import { LaneWorker } from "../lanes/worker.ts";
import type { SettledTask } from "../store/ports/port.ts";
import type { WorkerHeartbeat } from "../store/ports/worker-port.ts";
import { sweepParts } from "../supervisor/duties/sweep-parts.ts";
import { watchLimit } from "../supervisor/processes/watch-limit.ts";
import { Registration } from "../supervisor/registration.ts";
import type { Telemetry } from "../telemetry/telemetry.ts";
import { chooseEngine } from "./choose-engine.ts";
import { type Client, openClient } from "./context.ts";
import { closeArtifacts, closeToOthers } from "./file-access.ts";
import { problemsOf } from "./own-worker.ts";
import { createPageTools, type PageTools } from "./page-tools.ts";
import { openTelemetry } from "./open-telemetry.ts";
import { keyDiffers, keyMarkOf } from "./secret-key.ts";
import { watchFiles } from "./shared-means.ts";
import { loadUserCode } from "./user-code.ts";
import { createDuties } from "./worker/duties.ts";
import { laneRules } from "./worker/lane-rules.ts";
import { createTaskHandlers } from "./worker/task-handlers.ts";

export interface RunningWorker extends Client {
  /** Its id in the registry of workers. */
  readonly workerId: string;
  readonly role: EngineRole;
  readonly inFlight: number;
  /** Why it is paused, if it is. */
  readonly paused: string | null;
  readonly pausedSince: number | null;
  /** Its current state for the registry. */
  heartbeat(): Promise<WorkerHeartbeat>;
  /** Finishes or requeues running tasks, then closes everything. */
  stop(): Promise<void>;
  /** Requeues running tasks without waiting for them; `stop` then ends soon. */
  hurry(): void;
}

export interface WorkerHooks {
  /** The `orb` command; absent: a program that uses the library. */
  command?: string;
  /**
   * Shared within the process; its owner closes it. Two connections would invalidate each other's cache with every
   * write, although they take turns anyway.
   */
  client?: Client;
  /** This process created work: in a cluster it runs it only when no other worker does. */
  standBy?: boolean;
  /** Works only while no dedicated process does: an agent's tool comes and goes with the agent. */
  givesWay?: boolean;
  /** Shared within the process; their owner closes them. Absent: the worker has its own. */
  tools?: PageTools;
  /** Threads that several workers of one process share; the caller closes them. */
  reader?: PageReader;
  /** Shared within the process; its owner closes it. Absent: the worker has its own. */
  telemetry?: Telemetry | null;
  /** Event-loop lag and memory of this process; absent: measured. */
  gauge?: Gauge;
  onRole?: (role: EngineRole) => void;
  onTask?: (name: string, what: "started" | "ended", settled?: SettledTask) => void;
  /** Called when runs have ended. */
  onEnded?: () => void;
}

/** A process that executes tasks, or stands by. */
export async function startWorker(config: Config, log: Log, hooks: WorkerHooks = {}): Promise<RunningWorker> {
  const stack = new ServiceStack();
  const client = await openClientOf(config, log, hooks, stack);
  const { store, artifacts, clock } = client;
  const heap = keepYoungHeapSmall(clock);
  stack.defer("heap", async () => heap.stop());
  try {
    const tools = hooks.tools ?? createPageTools(config, log, client, hooks.reader);
    if (hooks.tools === undefined) stack.defer("pages", () => tools.close());
    void tools.browser.connect();
    const user = await loadUserCode(config, { clock, http: tools.http, artifacts });
    if (user !== null) stack.defer("user code", () => user.stop());
    const { handlers: untraced, crawls } = createTaskHandlers(config, { log, client, tools, user, stack });
    const telemetry = hooks.telemetry === undefined ? await openTelemetry(config, client, log) : hooks.telemetry;
    if (hooks.telemetry === undefined && telemetry !== null) stack.defer("telemetry", () => telemetry.close());
    const handlers = telemetry?.tasks?.around(untraced) ?? untraced;
    const gauge = hooks.gauge ?? processGauge();
    stack.defer("gauge", async () => gauge.stop());
    const worker = new LaneWorker({
      store,
      clock,
      random: systemRandom,
      log,
      rules: laneRules(config),
      handlers,
      maxWorkers: config.maxWorkers,
      gauge,
      probeRoom: async () => {
        await artifacts.probe();
        client.diskSpace.check();
      },
      onOpened: (lanes) => engine.offer(lanes),
      onSettled: ({ ended }) => {
        if (ended.length === 0) return;
        duties.leading.hurry();
        hooks.onEnded?.();
      },
      onOwner: () => crawls.forget(),
      onTask: (lane, what, settled) => {
        if (settled !== undefined) {
          dropPartOf(client, settled);
          registration.note(settled);
        }
        hooks.onTask?.(lane, what, settled);
      },
    });
    stack.defer("lanes", () => worker.stop());
    watchResources(client, tools, worker, stack);
    const { engine, kind } = await chooseEngine(config, client, {
      host: worker,
      timetable: { keep: () => duties.dueJobs.keep(), nextAt: () => duties.dueJobs.nextAt() },
      log,
      standBy: hooks.standBy === true,
      givesWay: hooks.givesWay === true,
      onLead: (leads) => {
        if (leads) {
          duties.leading.start();
          telemetry?.runs?.start();
        } else {
          void duties.leading.stop();
          void telemetry?.runs?.stop();
        }
      },
      onRole: (role) => {
        if (role === "engine") {
          duties.everywhere.start();
          removeOldParts(client, log);
        } else void duties.everywhere.stop();
        hooks.onRole?.(role);
      },
    });
    const registration = new Registration({
      store,
      clock,
      log,
      self: {
        id: systemRandom.uuid(),
        machine: machineName(),
        identity: ownIdentity(),
        version: productVersion(),
        command: hooks.command ?? "library",
        maxWorkers: config.maxWorkers,
      },
      key: client.cluster === null ? null : { mark: keyMarkOf(client.seal), differs: () => keyDiffers(config) },
      engine,
      engineKind: kind,
      worker,
      memory: () => tools.memory.used(),
      problems: () => problemsOf(tools),
      browsers: () => tools.browser.browsers,
      llm: () => tools.extractors.llm?.endpoint.usage ?? null,
    });
    const wake = wakerOf(client, engine);
    const duties = createDuties(config, {
      log,
      client: { ...client, wake },
      isCluster: kind === "bullmq",
      leads: () => engine.leads(),
      tools,
      telemetry,
      stack,
    });
    await stack.start("registration", registration);
    await stack.start("engine", engine);
    return {
      ...client,
      wake,
      workerId: registration.id,
      get role() {
        return engine.role;
      },
      get inFlight() {
        return worker.inFlight;
      },
      get paused() {
        return worker.paused;
      },
      get pausedSince() {
        return worker.pausedSince;
      },
      heartbeat: () => registration.reading(),
      stop: () => stack.stop(),
      hurry: () => engine.hurry(),
      close: () => stack.stop(),
      [Symbol.asyncDispose]: () => stack.stop(),
    };
  } catch (error) {
    await stack.stop();
    throw error;
  }
}

/** Store and files: those of the process, or its own, which it closes. */
async function openClientOf(config: Config, log: Log, hooks: WorkerHooks, stack: ServiceStack): Promise<Client> {
  if (hooks.client === undefined) closeToOthers(config, log);
  const client = hooks.client ?? (await openClient(config, systemClock, { log }));
  if (hooks.client === undefined) {
    stack.defer("store", () => client.store.close());
    void watchFiles(client, log);
  }
  const closing = new AbortController();
  stack.defer("file access", async () => closing.abort());
  void closeArtifacts(config, log, closing.signal);
  return client;
}

/** Pauses the worker while the disk is full, and slows it down while memory is short. */
function watchResources(client: Client, tools: PageTools, worker: LaneWorker, stack: ServiceStack): void {
  const { clock, diskSpace } = client;
  const disk = watchLimit({
    clock,
    check: async () => diskSpace.check(),
    onCheck: (error) => error !== null && worker.pause(error),
  });
  stack.defer("disk", () => disk.stop());
  const memory = watchLimit({ clock, check: () => tools.memory.check(), onCheck: (error) => worker.short(error) });
  stack.defer("memory", () => memory.stop());
}

/** A partial download is only useful to a task that will be retried. */
function dropPartOf({ artifacts }: Client, { task, verdict }: SettledTask): void {
  const isOver = verdict.kind === "failed" || verdict.kind === "skipped";
  if (isOver && artifacts.resumable(task.id) !== null) artifacts.dropPart(task.id);
}

/** Each process has partial downloads on its own machine. */
function removeOldParts(client: Client, log: Log): void {
  sweepParts(client).catch((error: unknown) =>
    log.warn("cannot remove old partial downloads", { error: messageOf(error) }),
  );
}

/** New work wakes the engine of this process, or of the process that has one. */
function wakerOf(client: Client, engine: Engine): Client["wake"] {
  return async (lanes) => {
    if (engine.role !== "engine") return client.wake(lanes);
    if (lanes === null) engine.controlChanged();
    else engine.offer(lanes);
  };
}
