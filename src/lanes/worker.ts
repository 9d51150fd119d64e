import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Gauge } from "../base/gauge.ts";
import type { Log } from "../base/log.ts";
import type { Random } from "../base/random.ts";
import type { Signal } from "../base/signal.ts";
import type { WaitCount } from "../domain/lane/rate-limit-wait.ts";
import type { LaneHost, LaneTicket, TicketEnd } from "../engine/port.ts";
import type { LaneGrant, Settled, SettledTask, Store } from "../store/ports/port.ts";
import type { ActiveTask } from "../store/ports/worker-port.ts";
import { Budgets } from "./limits/budgets.ts";
import type { HandlerLookup } from "./handlers/handler.ts";
import { PendingReleases } from "./owner/pending-releases.ts";
import { EventLoopTurns } from "./owner/event-loop-turns.ts";
import { LaneOwner } from "./owner/owner.ts";
import type { OwnerDeps } from "./owner/owner-deps.ts";
import { PaceMemories } from "./limits/pace-memories.ts";
import { StoreBackpressure } from "./limits/store-backpressure.ts";
import { RateLimitWaits } from "./limits/rate-limit-waits.ts";
import { RetryLog } from "./owner/retry-log.ts";
import type { LaneRules } from "./rules.ts";
import { ActiveTasks } from "./owner/running.ts";
import { Settler } from "./owner/settler.ts";
import { MemoryBackpressure } from "./limits/memory-backpressure.ts";
import { Slots } from "./limits/slots.ts";
import { LoadShedder } from "./owner/load-shedder.ts";

interface WorkerOptions {
  store: Store;
  clock: Clock;
  random: Random;
  log: Log;
  rules: LaneRules;
  handlers: HandlerLookup;
  /** Maximum number of tasks in flight in this process. */
  maxWorkers: number;
  /** Measures event-loop lag and memory for load shedding. */
  gauge: Gauge;
  /** Throws while a resource other than the store leaves no room for more work. */
  probeRoom: () => Promise<void>;
  /** Lanes that got work because a task moved there or found something. */
  onOpened: (lanes: string[]) => void;
  onSettled?: (settled: Settled) => void;
  /** Called before the first lane is taken under a new owner name. */
  onOwner?: () => void;
  onTask?: (name: string, what: "started" | "ended", settled?: SettledTask) => void;
}

/** Delay before a lane that could not be worked on, or a full slot limit, is checked again. */
const RETRY_MS = 1000;

/** Executes tasks of the lanes that the engine grants. */
export class LaneWorker implements LaneHost {
  readonly #deps: OwnerDeps;
  readonly #store: Store;
  readonly #budgets: Budgets;
  readonly #slots: Slots;
  readonly #backpressure: StoreBackpressure;
  readonly #memory: MemoryBackpressure;
  readonly #active = new ActiveTasks();
  readonly #waits = new RateLimitWaits();
  readonly #pendingReleases: PendingReleases;
  readonly #onOwner: (() => void) | undefined;
  #owner: string | null = null;

  constructor(options: WorkerOptions) {
    const { store, clock, random, log, rules } = options;
    this.#store = store;
    this.#onOwner = options.onOwner;
    const shedder = new LoadShedder({ clock, log, gauge: options.gauge, most: options.maxWorkers });
    this.#memory = new MemoryBackpressure({ clock, log, onEnd: () => this.#slots.lookAgain() });
    this.#slots = new Slots(
      (used) => (this.#memory.reason === null ? shedder.most(used) : 1),
      (look) => void clock.after(RETRY_MS, look),
    );
    this.#backpressure = new StoreBackpressure({
      clock,
      log,
      probe: async () => {
        await store.probe();
        await options.probeRoom();
      },
    });
    this.#pendingReleases = new PendingReleases({ store, clock, onLeft: (lane) => options.onOpened([lane]) });
    this.#budgets = new Budgets({ store, clock, log, caps: rules.maxPerResolver });
    const settler = new Settler({
      store,
      clock,
      log,
      backpressure: this.#backpressure,
      onSettled: (settled) => {
        if (settled.opened.length > 0) options.onOpened(settled.opened);
        options.onSettled?.(settled);
      },
      onWritten: (settled) => options.handlers(settled.task.handler)?.onWritten?.(settled),
    });
    this.#deps = {
      store,
      clock,
      log,
      rules,
      attempt: {
        clock,
        random,
        log,
        handlers: options.handlers,
        retry: rules.retry,
        backpressure: this.#backpressure,
        retryLog: new RetryLog(),
      },
      slots: this.#slots,
      budgets: this.#budgets,
      settler,
      paces: new PaceMemories(),
      backpressure: this.#backpressure,
      active: this.#active,
      waits: this.#waits,
      turns: new EventLoopTurns(clock),
      onOpened: options.onOpened,
      ...(options.onTask === undefined ? {} : { onTask: options.onTask }),
    };
  }

  get inFlight(): number {
    return this.#slots.used;
  }

  /** The tasks that have run the longest. */
  active(most: number): ActiveTask[] {
    return this.#active.list(most);
  }

  rateLimitWaits(): WaitCount[] {
    return this.#waits.read();
  }

  /** Why this process takes no more work; null: it does. */
  get paused(): string | null {
    return this.#backpressure.reason ?? this.#memory.reason;
  }

  get pausedSince(): number | null {
    return this.#backpressure.since ?? this.#memory.since;
  }

  get resting(): boolean {
    return this.#backpressure.reason !== null;
  }

  watchRest(changed: Signal): () => void {
    return this.#backpressure.subscribe(changed);
  }

  /** No room for more work: running tasks finish, and none starts until a probe succeeds. */
  pause(error: unknown): void {
    this.#backpressure.report(error);
  }

  /** Memory suffices for one task at a time only; null: enough again. */
  short(error: unknown): void {
    if (error === null) this.#memory.over();
    else this.#memory.found(error);
  }

  /** Called after the engine has stopped: nothing waits for the store any more. */
  async stop(): Promise<void> {
    this.#backpressure.stop();
    this.#pendingReleases.stop();
    this.#deps.settler.stop();
  }

  async work(ticket: LaneTicket): Promise<TicketEnd> {
    // Thousands of lanes may be offered together, each with a task that ends immediately.
    await this.#deps.turns.yieldNow();
    if (this.resting || !ticket.leaseHolds()) return { more: false, wakeAt: this.#deps.clock.now() + RETRY_MS };
    this.#setOwner(ticket.owner);
    let grant: LaneGrant | null;
    try {
      await this.#pendingReleases.leave(ticket.lane);
      grant = await this.#takeLane(ticket);
    } catch (error) {
      if (!this.#backpressure.report(error)) throw error;
      return { more: false, wakeAt: this.#deps.clock.now() + RETRY_MS };
    }
    if (grant === null) return { more: false, wakeAt: null, refused: true };
    const owner = new LaneOwner(this.#deps, ticket, grant);
    try {
      return await owner.work();
    } finally {
      if (!ticket.fence.aborted) await this.#release(grant, owner.pace.restMs);
    }
  }

  /** A new owner name invalidates cached state: others may have owned the lanes since, or the store lost data. */
  #setOwner(owner: string): void {
    if (owner === this.#owner) return;
    this.#owner = owner;
    this.#budgets.setOwner(owner);
    this.#deps.paces.forget();
    this.#onOwner?.();
  }

  async #takeLane({ lane, owner, ttlMs }: LaneTicket): Promise<LaneGrant | null> {
    try {
      const grant = await this.#store.takeLane(lane, owner, ttlMs);
      // Tasks that the previous owner was asked to stop are not started again.
      const left = grant !== null && grant.recovered > 0;
      const opened = left ? await this.#store.endStopped(this.#deps.clock.now()) : [];
      const newShards = grant?.opened?.filter((name) => name !== lane) ?? [];
      if (opened.length + newShards.length > 0) this.#deps.onOpened([...opened, ...newShards]);
      return grant;
    } catch (error) {
      this.#pendingReleases.add(lane, owner);
      throw error;
    }
  }

  async #release(grant: LaneGrant, restMs: number): Promise<void> {
    try {
      await this.#store.releaseLane(grant, restMs);
    } catch (error) {
      this.#backpressure.report(error);
      this.#deps.log.warn("cannot release a lane yet; retrying", { lane: grant.lane, error: messageOf(error) });
      this.#pendingReleases.add(grant.lane, grant.owner);
    }
  }
}
