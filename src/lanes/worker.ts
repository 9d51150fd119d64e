import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Gauge } from "../base/gauge.ts";
import type { Log } from "../base/log.ts";
import type { Random } from "../base/random.ts";
import type { Signal } from "../base/signal.ts";
import type { LaneHost, LaneTicket, TicketEnd } from "../engine/port.ts";
import type { LaneGrant, Settled, SettledTask, Store } from "../store/port.ts";
import type { ActiveTask } from "../store/worker-port.ts";
import { Budgets } from "./budgets.ts";
import type { HandlerLookup } from "./handlers/handler.ts";
import { LeftLanes } from "./left-lanes.ts";
import { LaneOwner, type OwnerDeps } from "./owner.ts";
import { PaceMemories } from "./pace-memories.ts";
import { Pressure } from "./pressure.ts";
import type { LaneRules } from "./rules.ts";
import { ActiveTasks } from "./running.ts";
import { Settler } from "./settler.ts";
import { Shortage } from "./shortage.ts";
import { Slots } from "./slots.ts";
import { Yielding } from "./yielding.ts";

export interface WorkerOptions {
  store: Store;
  clock: Clock;
  random: Random;
  log: Log;
  rules: LaneRules;
  handlers: HandlerLookup;
  /** Tasks in flight in this process. */
  maxWorkers: number;
  /** Says when fewer are better. */
  gauge: Gauge;
  /** Throws while there is no room for more work, besides what the store itself says. */
  probeRoom: () => Promise<void>;
  /** Lanes that got work because a task moved there or found something. */
  onOpened: (lanes: string[]) => void;
  onSettled?: (settled: Settled) => void;
  /** From now on lanes are owned under another name: before any of them is taken. */
  onOwner?: () => void;
  onTask?: (name: string, what: "started" | "ended", settled?: SettledTask) => void;
}

/** When to try a lane again that could not be worked on, and whether there is room for those in line. */
const LATER_MS = 1000;

/** Executes tasks: what the engine gives lanes to. */
export class LaneWorker implements LaneHost {
  readonly #deps: OwnerDeps;
  readonly #store: Store;
  readonly #budgets: Budgets;
  readonly #slots: Slots;
  readonly #pressure: Pressure;
  readonly #shortage: Shortage;
  readonly #active = new ActiveTasks();
  readonly #left: LeftLanes;
  readonly #onOwner: (() => void) | undefined;
  #owner: string | null = null;

  constructor(options: WorkerOptions) {
    const { store, clock, random, log, rules } = options;
    this.#store = store;
    this.#onOwner = options.onOwner;
    const yielding = new Yielding({ clock, log, gauge: options.gauge, most: options.maxWorkers });
    this.#shortage = new Shortage({ clock, log, onEnd: () => this.#slots.lookAgain() });
    this.#slots = new Slots(
      (used) => (this.#shortage.reason === null ? yielding.most(used) : 1),
      (look) => void clock.after(LATER_MS, look),
    );
    this.#pressure = new Pressure({
      clock,
      log,
      probe: async () => {
        await store.probe();
        await options.probeRoom();
      },
    });
    this.#left = new LeftLanes({ store, clock, onLeft: (lane) => options.onOpened([lane]) });
    this.#budgets = new Budgets({ store, clock, log, caps: rules.maxPerResolver });
    const settler = new Settler({
      store,
      clock,
      log,
      pressure: this.#pressure,
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
      attempt: { clock, random, log, handlers: options.handlers, retry: rules.retry, pressure: this.#pressure },
      slots: this.#slots,
      budgets: this.#budgets,
      settler,
      paces: new PaceMemories(),
      pressure: this.#pressure,
      active: this.#active,
      onOpened: options.onOpened,
      ...(options.onTask === undefined ? {} : { onTask: options.onTask }),
    };
  }

  get inFlight(): number {
    return this.#slots.used;
  }

  /** The tasks that have been at work the longest. */
  active(most: number): ActiveTask[] {
    return this.#active.list(most);
  }

  /** Why this process takes no more work, when it does not. */
  get paused(): string | null {
    return this.#pressure.reason ?? this.#shortage.reason;
  }

  get pausedSince(): number | null {
    return this.#pressure.since ?? this.#shortage.since;
  }

  get resting(): boolean {
    return this.#pressure.reason !== null;
  }

  watchRest(changed: Signal): () => void {
    return this.#pressure.subscribe(changed);
  }

  /** There is no room for more work: what runs is finished, and nothing is begun until a probe finds room. */
  pause(error: unknown): void {
    this.#pressure.report(error);
  }

  /** There is too little memory for more than one task at a time; null: there is enough again. */
  short(error: unknown): void {
    if (error === null) this.#shortage.over();
    else this.#shortage.found(error);
  }

  /** After the engine has stopped: what waits for the store to come back does so no longer. */
  async stop(): Promise<void> {
    this.#pressure.stop();
    this.#left.stop();
    this.#deps.settler.stop();
  }

  async work(ticket: LaneTicket): Promise<TicketEnd> {
    if (this.resting || !ticket.leaseHolds()) return { more: false, wakeAt: this.#deps.clock.now() + LATER_MS };
    this.#ownAs(ticket.owner);
    let grant: LaneGrant | null;
    try {
      await this.#left.leave(ticket.lane);
      grant = await this.#take(ticket);
    } catch (error) {
      if (!this.#pressure.report(error)) throw error;
      return { more: false, wakeAt: this.#deps.clock.now() + LATER_MS };
    }
    if (grant === null) return { more: false, wakeAt: null, refused: true };
    const owner = new LaneOwner(this.#deps, ticket, grant);
    try {
      return await owner.work();
    } finally {
      if (!ticket.fence.aborted) await this.#giveBack(grant, owner.pace.restMs);
    }
  }

  /** Nothing that was true under another name is relied on under this one: what others did since, or what the store lost. */
  #ownAs(owner: string): void {
    if (owner === this.#owner) return;
    this.#owner = owner;
    this.#budgets.setOwner(owner);
    this.#deps.paces.forget();
    this.#onOwner?.();
  }

  async #take({ lane, owner, ttlMs }: LaneTicket): Promise<LaneGrant | null> {
    try {
      const grant = await this.#store.takeLane(lane, owner, ttlMs);
      // What its owner before could not stop any more is not begun again.
      const left = grant !== null && grant.recovered > 0;
      const opened = left ? await this.#store.endStopped(this.#deps.clock.now()) : [];
      const divided = grant?.opened?.filter((name) => name !== lane) ?? [];
      if (opened.length + divided.length > 0) this.#deps.onOpened([...opened, ...divided]);
      return grant;
    } catch (error) {
      this.#left.add(lane, owner);
      throw error;
    }
  }

  async #giveBack(grant: LaneGrant, restMs: number): Promise<void> {
    try {
      await this.#store.releaseLane(grant, restMs);
    } catch (error) {
      this.#pressure.report(error);
      this.#deps.log.warn("a lane could not be given back yet", { lane: grant.lane, error: messageOf(error) });
      this.#left.add(grant.lane, grant.owner);
    }
  }
}
