import type { TestContext } from "node:test";
import type { Strain } from "../../src/base/gauge.ts";
import { type Log, silentLog } from "../../src/base/log.ts";
import { seededRandom } from "../../src/base/random.ts";
import { classifyStatus } from "../../src/domain/run/classify.ts";
import { laneOfSite } from "../../src/domain/lane/lane.ts";
import type { Failure } from "../../src/domain/run/failure.ts";
import type { Handled, RunEvent } from "../../src/domain/run/outcome.ts";
import { TERMINAL_RUN_STATES } from "../../src/domain/run/states.ts";
import { siteOf } from "../../src/domain/text/url.ts";
import { EmbeddedEngine } from "../../src/engine/embedded/engine.ts";
import type { TaskHandler } from "../../src/lanes/handlers/handler.ts";
import { spacedByRobots } from "../../src/lanes/handlers/spacing.ts";
import type { LaneRules } from "../../src/lanes/rules.ts";
import { LaneWorker } from "../../src/lanes/worker.ts";
import type { RobotsRules } from "../../src/pages/obey-robots.ts";
import type { ClaimedTask, NewRun, NewTask, RunRecord, Store, TaskRecord } from "../../src/store/ports/port.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { preparedInMemory } from "../support/prepared-database.ts";

export const NO_STRAIN: Strain = { lagMs: 0, memory: 0 };

export interface Start {
  key: string;
  url: string;
  site: string;
  at: number;
}

export interface WorkshopOptions {
  rules?: Partial<Omit<LaneRules, "retry">> & { retry?: Partial<LaneRules["retry"]> };
  maxWorkers?: number;
  maxActiveLanes?: number;
  /** Event-loop lag and memory usage of the process. */
  strain?: () => Strain;
  log?: Log;
  /** How long an answer takes. */
  latencyMs?: number | ((task: ClaimedTask) => number);
  /** What the sites' robots.txt say. */
  robots?: RobotsRules;
  /** The failure of a request; null: a good answer. `times` counts requests for this URL, from 1. */
  answer?: (task: ClaimedTask, times: number) => Handled | null;
  /** Stands between the worker and the handler. */
  around?: (handler: TaskHandler, shop: Workshop) => TaskHandler;
  /** What the run's log says of a task that has failed for good. */
  onFailed?: (task: ClaimedTask, failure: Failure) => RunEvent;
  /** Stands between the worker and the store. */
  wrap?: (store: Store) => Store;
}

export const status = (code: number, retryAfterMs: number | null = null): Handled => ({
  kind: "failed",
  failure: classifyStatus(code, retryAfterMs)!,
});

export const GOOD: Handled = { kind: "completed", artifacts: [], results: [{ ok: true }] };

/** Engine, worker and store as in production, with a fake clock and a scripted network. */
export class Workshop {
  readonly clock = new FakeClock();
  readonly store: Store;
  readonly engine: EmbeddedEngine;
  readonly worker: LaneWorker;
  readonly starts: Start[] = [];
  /** In flight now, per site and per resolver, and the most there ever were. */
  readonly inFlight = new Map<string, number>();
  readonly most = new Map<string, number>();
  readonly #runs: RunRecord[] = [];

  private constructor(t: TestContext | null, options: WorkshopOptions) {
    const { clock } = this;
    this.store = openSqliteStore({ path: ":memory:", clock, connection: preparedInMemory() });
    const seen = options.wrap === undefined ? this.store : options.wrap(this.store);
    const retry = {
      backoff: { baseMs: 10_000, maxMs: 300_000 },
      maxAttempts: 3,
      retryAfterMaxMs: 3_600_000,
      rateLimitMaxWaits: 5,
      ...options.rules?.retry,
    };
    const rules: LaneRules = {
      maxPerSite: 4,
      minDelayMs: 0,
      breaker: { failures: 5, cooldownMs: 300_000 },
      maxPerResolver: {},
      ...options.rules,
      retry,
    };
    const asked = new Map<string, number>();
    const plain: TaskHandler = {
      strategy: "http",
      ...(options.onFailed === undefined ? {} : { onFailed: options.onFailed }),
      run: async (task, context) => {
        const { signal } = context;
        const url = task.nextUrl ?? task.url ?? "";
        if (options.robots !== undefined) await spacedByRobots(options.robots, context).check(url, signal);
        const times = (asked.get(url) ?? 0) + 1;
        asked.set(url, times);
        this.starts.push({ key: task.key, url, site: siteOf(url), at: clock.monotonic() });
        const keys = [siteOf(url), ...(task.resolver === null ? [] : [`resolver:${task.resolver}`])];
        for (const key of keys) this.#count(key, 1);
        try {
          const ms = typeof options.latencyMs === "function" ? options.latencyMs(task) : (options.latencyMs ?? 5);
          await new Promise<void>((resolve, reject) => {
            clock.after(ms, resolve);
            signal.addEventListener("abort", () => reject(new Error("stopped")), { once: true });
          });
        } finally {
          for (const key of keys) this.#count(key, -1);
        }
        return options.answer?.(task, times) ?? GOOD;
      },
    };
    const handler = options.around?.(plain, this) ?? plain;
    this.worker = new LaneWorker({
      store: seen,
      clock,
      random: seededRandom(1),
      log: options.log ?? silentLog,
      rules,
      handlers: () => handler,
      maxWorkers: options.maxWorkers ?? 32,
      gauge: { read: options.strain ?? (() => NO_STRAIN), stop: () => {} },
      probeRoom: async () => {},
      onOpened: (lanes) => this.engine.offer(lanes),
    });
    this.engine = new EmbeddedEngine({
      store: seen,
      host: this.worker,
      clock,
      random: seededRandom(2),
      log: silentLog,
      identity: { boot: "boot", pid: 1, pidStart: "1" },
      mayBeAlive: () => true,
      link: { address: "none", listen: async () => {}, close: async () => {} },
      watch: () => ({ closed: new Promise(() => {}), stop: () => {} }),
      leaseTtlMs: 60_000,
      heartbeatMs: 15_000,
      graceMs: 30_000,
      maxActiveLanes: options.maxActiveLanes ?? 32,
    });
    t?.after(() => this.close());
  }

  static async open(t: TestContext | null, options: WorkshopOptions = {}): Promise<Workshop> {
    const shop = new Workshop(t, options);
    await shop.engine.start();
    await shop.clock.advance(0);
    return shop;
  }

  async close(): Promise<void> {
    this.engine.hurry();
    const stopped = this.engine.stop();
    await this.clock.advance(60_000);
    await stopped;
    await this.store.close();
  }

  async run(
    tasks: readonly (Partial<NewTask> & { key: string; url: string })[],
    more: Partial<Pick<NewRun, "kind" | "snapshot" | "timeLimitMs">> = {},
  ): Promise<RunRecord> {
    const { store, clock } = this;
    const run = await store.openRun({ kind: "queue", maxAttempts: null, snapshot: {}, ...more }, clock.now());
    this.#runs.push(run);
    await this.add(run, tasks);
    return run;
  }

  async add(run: RunRecord, tasks: readonly (Partial<NewTask> & { key: string; url: string })[]): Promise<void> {
    const full = tasks.map((task): NewTask => ({
      lane: laneOfSite(siteOf(task.url)),
      site: siteOf(task.url),
      resolver: null,
      priority: 0,
      handler: null,
      payload: null,
      ...task,
    }));
    const { lanes } = await this.store.enqueue(run.id, full, this.clock.now());
    this.engine.offer(lanes);
  }

  /** Lets time pass until every run has ended. */
  async finish(limitMs = 86_400_000): Promise<void> {
    const { clock, store } = this;
    const end = clock.monotonic() + limitMs;
    const open = async () => {
      const runs = await Promise.all(this.#runs.map((run) => store.run(run.id)));
      return runs.some((run) => run !== null && !TERMINAL_RUN_STATES.includes(run.status));
    };
    while (await open()) {
      if (clock.monotonic() > end) throw new Error("the runs did not end");
      await clock.advance(50);
    }
  }

  async task(run: RunRecord, key: string): Promise<TaskRecord> {
    return (await this.store.taskByKey(run.id, key)) as TaskRecord;
  }

  keys(): string[] {
    return this.starts.map((start) => start.key);
  }

  #count(key: string, by: number): void {
    const now = (this.inFlight.get(key) ?? 0) + by;
    this.inFlight.set(key, now);
    this.most.set(key, Math.max(now, this.most.get(key) ?? 0));
  }
}

/** Numbered tasks of one site. */
export function pages(site: string, count: number, more: Partial<Omit<NewTask, "key" | "url">> = {}, prefix = "") {
  return Array.from({ length: count }, (_, n) => ({
    key: `${prefix}${site}-${n}`,
    url: `http://${site}/${prefix}${n}`,
    ...more,
  }));
}
