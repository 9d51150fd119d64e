import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import { systemClock } from "../../src/base/clock.ts";
import { OrbError } from "../../src/base/errors.ts";
import { type Log, silentLog } from "../../src/base/log.ts";
import { systemRandom } from "../../src/base/random.ts";
import { failure } from "../../src/domain/run/failure.ts";
import type { Engine, LaneHost, Timetable } from "../../src/engine/port.ts";
import type { TaskHandler } from "../../src/lanes/handlers/handler.ts";
import { LaneWorker } from "../../src/lanes/worker.ts";
import type { EngineHolder } from "../../src/store/records/engine-records.ts";
import type { ClaimedTask, RunRecord, Store } from "../../src/store/ports/port.ts";
import { until } from "../chaos/orb.ts";
import { newTask } from "./store/kit.ts";

/** Longer than a busy machine keeps a process from renewing its lease: whoever loses its lanes begins again what it had. */
const PREFETCH: LeaseTimes = { leaseTtlMs: 30_000, heartbeatMs: 1000 };
/** For scenarios in which a lease is to end because its process is gone. */
export const BRIEF: LeaseTimes = { leaseTtlMs: 5000, heartbeatMs: 300 };
/** How long a task takes whose key begins with "slow"; one that begins with "flaky" fails at first, "…@5" has priority 5. */
const SLOW_MS = 50;
const NO_ROOM = new OrbError("disk_full", "there is no room");

export interface LeaseTimes {
  leaseTtlMs: number;
  heartbeatMs: number;
}

/** What an engine of either kind is made with. */
export interface EngineMakings extends LeaseTimes {
  store: Store;
  host: LaneHost;
  log: Log;
  pid: number;
  mayBeAlive(holder: EngineHolder): boolean;
  maxActiveLanes: number;
  graceMs: number;
  reconcileMs: number;
  onLead(leads: boolean): void;
  timetable: Timetable;
}

export interface MadeEngine {
  engine: Engine & { hurry(): void };
  /** What kill -9 does to its connections; nothing that it says afterwards is heard. */
  cut(): void;
  /** What SIGSTOP does to them, and SIGCONT. */
  freeze(): void;
  thaw(): void;
}

/** One place where engines of a kind work together, made anew for every scenario. */
export interface EngineHarness {
  /** Several processes work at once; else one works, and the others stand by. */
  readonly many: boolean;
  /** As another process would open it. */
  openStore(): Promise<Store>;
  make(makings: EngineMakings): Promise<MadeEngine>;
  /** Tells those who work, as a process does that does not; null: limits, pauses or run states changed. */
  poke(store: Store, lanes: string[] | null): Promise<void>;
  /** Everything that the engine itself remembers is gone. */
  wipe(): Promise<void>;
  /** Delivers a ticket once more, although somebody has it. */
  double(lane: string): Promise<void>;
  close(): Promise<void>;
}

interface Began {
  key: string;
  lane: string;
  pid: number;
}

/** A process that works: engine, worker and store as in production; only its handler is a script. */
export class Process {
  readonly pid: number;
  readonly engine: MadeEngine["engine"];
  leads = false;
  /** How often it was given a lane. */
  tickets = 0;
  readonly #created: MadeEngine;
  readonly #worker: LaneWorker;
  readonly #valve: Valve;
  #full = false;

  private constructor(pid: number, created: MadeEngine, worker: LaneWorker, valve: Valve) {
    this.pid = pid;
    this.engine = created.engine;
    this.#created = created;
    this.#worker = worker;
    this.#valve = valve;
  }

  static async boot(scene: Scene, options: BootOptions): Promise<Process> {
    const pid = scene.nextPid();
    const valve = new Valve(await scene.harness.openStore());
    const handler = scene.handlerOf(pid);
    const worker: LaneWorker = new LaneWorker({
      store: valve.store,
      clock: systemClock,
      random: systemRandom,
      log: silentLog,
      rules: {
        maxPerSite: 4,
        minDelayMs: 0,
        breaker: { failures: 5, cooldownMs: 60_000 },
        maxPerResolver: {},
        retry: { backoff: { baseMs: 100, maxMs: 1000 }, maxAttempts: 3, retryAfterMaxMs: 1000, rateLimitMaxWaits: 5 },
      },
      handlers: () => handler,
      maxWorkers: 32,
      gauge: { read: () => ({ lagMs: 0, memory: 0 }), stop: () => {} },
      probeRoom: async () => {
        if (process.#full) throw NO_ROOM;
      },
      onOpened: (lanes) => created.engine.offer(lanes),
    });
    const created: MadeEngine = await scene.harness.make({
      store: valve.store,
      host: {
        work: (ticket) => {
          process.tickets += 1;
          return worker.work(ticket);
        },
        get resting() {
          return worker.resting;
        },
        watchRest: (changed) => worker.watchRest(changed),
      },
      log: silentLog,
      pid,
      ...(options.lease ?? PREFETCH),
      mayBeAlive: (holder) => scene.alive.has(holder.pid),
      maxActiveLanes: options.maxActiveLanes ?? 8,
      graceMs: options.graceMs ?? 10_000,
      reconcileMs: options.reconcileMs ?? 60_000,
      onLead: (leads) => (process.leads = leads),
      timetable: scene.timetableOf(pid),
    });
    const process: Process = new Process(pid, created, worker, valve);
    scene.alive.add(pid);
    await created.engine.start();
    return process;
  }

  /** Its disk is full, until it is emptied. */
  fill(): void {
    this.#full = true;
    this.#worker.pause(NO_ROOM);
  }

  empty(): void {
    this.#full = false;
  }

  get inFlight(): number {
    return this.#worker.inFlight;
  }

  /** kill -9: nothing that it does has an effect any more. */
  kill(): void {
    this.#valve.shut();
    this.#created.cut();
  }

  /** SIGSTOP: the store and the engine hear nothing of it, and its connections stay. */
  freeze(): void {
    this.#valve.freeze();
    this.#created.freeze();
  }

  thaw(): void {
    this.#valve.thaw();
    this.#created.thaw();
  }

  async end(): Promise<void> {
    this.#valve.fail();
    this.#created.thaw();
    this.engine.hurry();
    await this.engine.stop();
    await this.#worker.stop();
    await this.#valve.close();
  }
}

export interface BootOptions {
  lease?: LeaseTimes;
  maxActiveLanes?: number;
  graceMs?: number;
  reconcileMs?: number;
}

/** Stands between a process and the store. */
class Valve {
  readonly store: Store;
  readonly #inner: Store;
  #state: "open" | "frozen" | "shut" | "failing" = "open";
  #waiting: { resolve: () => void; reject: (error: Error) => void }[] = [];

  constructor(inner: Store) {
    this.#inner = inner;
    this.store = new Proxy(inner, {
      get: (target, name) => {
        const value = Reflect.get(target, name) as unknown;
        if (typeof value !== "function" || name === "watch") return value;
        return async (...args: unknown[]) => {
          if (this.#state !== "open") await this.#wait();
          return (value as (...all: unknown[]) => Promise<unknown>).apply(target, args);
        };
      },
    });
  }

  #wait(): Promise<void> {
    if (this.#state === "failing") return Promise.reject(new Error("this process is dead"));
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  freeze(): void {
    this.#state = "frozen";
  }

  shut(): void {
    this.#state = "shut";
  }

  thaw(): void {
    this.#state = "open";
    for (const { resolve } of this.#waiting.splice(0)) resolve();
  }

  /** At the end of a scenario a dead process is to leave nothing behind. */
  fail(): void {
    if (this.#state === "frozen") return this.thaw();
    if (this.#state !== "shut") return;
    this.#state = "failing";
    for (const { reject } of this.#waiting.splice(0)) reject(new Error("this process is dead"));
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}

/** Processes at work on one store, and a record of what they did. */
export class Scene implements AsyncDisposable {
  readonly harness: EngineHarness;
  /** The store as a process sees it that does not work. */
  readonly store: Store;
  readonly alive = new Set<number>();
  /** What was begun, in order. */
  readonly began: Began[] = [];
  /** When something is due by the clock next; null: nothing is. */
  dueAt: number | null = null;
  /** Who has seen to what was due, in order. */
  readonly kept: number[] = [];
  /** Lanes on which two were at work at once. */
  readonly overlaps: string[] = [];
  /** In flight now: the lane, and who. */
  readonly #inFlight = new Map<ClaimedTask, { lane: string; pid: number }>();
  readonly #processes: Process[] = [];
  /** Tasks whose key begins so go on only when they are let go, or are told to stop. */
  readonly #held = new Map<string, PromiseWithResolvers<void>>();
  #pids = 100;

  private constructor(harness: EngineHarness, store: Store) {
    this.harness = harness;
    this.store = store;
  }

  static async open(make: () => Promise<EngineHarness>): Promise<Scene> {
    const harness = await make();
    return new Scene(harness, await harness.openStore());
  }

  nextPid(): number {
    return (this.#pids += 1);
  }

  async boot(options: BootOptions = {}): Promise<Process> {
    const process = await Process.boot(this, options);
    this.#processes.push(process);
    return process;
  }

  byPid(pid: number | undefined): Process {
    const process = this.#processes.find((one) => one.pid === pid);
    assert.ok(process !== undefined);
    return process;
  }

  kill(process: Process): void {
    process.kill();
    this.alive.delete(process.pid);
    this.#forget(process);
  }

  /** What it has begun hangs, and is nobody's concern: a site sees connections on which nothing happens. */
  freeze(process: Process): void {
    process.freeze();
    this.#forget(process);
  }

  #forget(process: Process): void {
    for (const [task, { pid }] of this.#inFlight) if (pid === process.pid) this.#inFlight.delete(task);
  }

  /** Work for lanes, written by a process that does not work; it tells those who do unless `silently`. */
  async submit(
    tasks: Record<string, readonly string[]>,
    silently = false,
    resolver: string | null = null,
  ): Promise<RunRecord> {
    const now = systemClock.now();
    const run = await this.store.openRun({ kind: "queue", alias: "queue", maxAttempts: 3, snapshot: {} }, now);
    const all = Object.entries(tasks).flatMap(([lane, keys]) =>
      keys.map((key) => newTask(key, { lane, resolver, priority: Number(key.split("@")[1] ?? 0) })),
    );
    const { lanes } = await this.store.enqueue(run.id, all, now);
    if (!silently) await this.harness.poke(this.store, lanes);
    return run;
  }

  hold(prefix: string): void {
    this.#held.set(prefix, Promise.withResolvers());
  }

  release(prefix: string): void {
    this.#held.get(prefix)?.resolve();
    this.#held.delete(prefix);
  }

  handlerOf(pid: number): TaskHandler {
    return {
      strategy: "http",
      run: async (task, { signal }) => {
        const lane = laneOf(task);
        for (const other of this.#inFlight.values())
          if (other.lane === lane && other.pid !== pid) this.overlaps.push(lane);
        this.#inFlight.set(task, { lane, pid });
        this.began.push({ key: task.key, lane, pid });
        const gate = [...this.#held].find(([prefix]) => task.key.startsWith(prefix))?.[1];
        try {
          await Promise.race([
            gate?.promise ?? wait(task.key.startsWith("slow") ? SLOW_MS : 2),
            new Promise((_, reject) =>
              signal.addEventListener("abort", () => reject(new Error("stopped")), { once: true }),
            ),
          ]);
        } finally {
          this.#inFlight.delete(task);
        }
        if (task.key.startsWith("flaky") && this.times(task.key) === 1)
          return { kind: "failed", failure: failure("connection_reset", "the connection broke") };
        return { kind: "completed", artifacts: [], results: [] };
      },
    };
  }

  /** What is due comes again every fifth of a second; seeing to it takes until nobody holds it. */
  timetableOf(pid: number): Timetable {
    return {
      keep: async () => {
        this.kept.push(pid);
        await this.#held.get("due")?.promise;
        if (this.dueAt !== null) this.dueAt = systemClock.now() + 200;
        return this.dueAt;
      },
      nextAt: async () => this.dueAt,
    };
  }

  /** Resolves when somebody has begun this task, `times` times. */
  async begun(key: string, times = 1): Promise<number> {
    const found = () => this.began.filter((one) => one.key === key);
    await until(() => found().length >= times, `${key} is begun ${times} times`);
    return found().at(-1)?.pid ?? 0;
  }

  async completed(run: RunRecord, count: number): Promise<void> {
    const done = async () => (await this.store.overview(run.id, 0)).totals.completed === count;
    await until(done, `${count} tasks are completed`);
  }

  times(key: string): number {
    return this.began.filter((one) => one.key === key).length;
  }

  async expectClean(): Promise<void> {
    const report = await this.store.audit();
    assert.deepEqual(report.findings, []);
    assert.deepEqual(this.overlaps, [], "no lane had two owners at once");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const prefix of [...this.#held.keys()]) this.release(prefix);
    await Promise.all(this.#processes.map((process) => process.end()));
    await this.store.close();
    await this.harness.close();
  }
}

function laneOf(task: ClaimedTask): string {
  return `site:${new URL(task.url ?? "").host}`;
}
