import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { failure } from "../../domain/run/failure.ts";
import type { SiteHealth } from "../../domain/site/site-health.ts";
import type { Waiting } from "../../domain/run/waiting.ts";
import { Signal } from "../../base/signal.ts";
import type { LaneHold, SettleBatch, Settled, SettledTask, Store } from "../../store/ports/port.ts";
import type { Politeness } from "../../store/records/site-records.ts";
import type { StoreBackpressure } from "../limits/store-backpressure.ts";
import type { LaneNote } from "./site-notes.ts";

interface Pending {
  hold: LaneHold;
  tasks: SettledTask[];
  site: { site: string; politeness: Politeness } | null;
  health: Map<string, SiteHealth>;
  /** Undefined: as before. */
  waiting: Waiting | null | undefined;
  lost: () => void;
  flushed: (() => void)[];
}

interface SettlerDeps {
  store: Store;
  clock: Clock;
  log: Log;
  backpressure: StoreBackpressure;
  onSettled: (settled: Settled) => void;
  /** Called when an outcome is committed. */
  onWritten?: (settled: SettledTask) => void;
}

// Outcomes are collected this long and written together. On a fast local site that makes some 70 outcomes per
// transaction (10 ms: half of that, and 5 µs more per outcome); after a crash at most these are fetched again.
export const GATHER_MS = 20;
export const MOST_TASKS = 500;
// On a shared database a transaction takes several round trips, and those of one run wait for each other: a busy process
// writes this often, and one that has not written for as long does not wait.
export const SHARED_PAUSE_MS = 400;
export const RETRY_MS = 250;

/** Writes the outcomes of all lanes of the process in few transactions. */
export class Settler {
  readonly #deps: SettlerDeps;
  /** Keyed by the hold object: an owner has one and keeps it. */
  #pending = new Map<LaneHold, Pending>();
  #count = 0;
  #scheduled = false;
  #writing = false;
  #wroteAt = Number.NEGATIVE_INFINITY;
  #stopped = false;
  readonly #room = new Signal();

  constructor(deps: SettlerDeps) {
    this.#deps = deps;
    deps.backpressure.subscribe(this.#room);
  }

  add(
    hold: LaneHold,
    what: { task: SettledTask; site?: string; politeness?: Politeness | null },
    lost: () => void,
  ): void {
    const pending = this.#of(hold, lost);
    pending.tasks.push(what.task);
    if (what.site !== undefined && what.politeness) pending.site = { site: what.site, politeness: what.politeness };
    this.#count += 1;
    if (this.#count >= MOST_TASKS) void this.#write();
    else this.#schedule();
  }

  /** Notes about the lane's sites; the newest replaces earlier ones. */
  note(hold: LaneHold, { health = [], waiting }: LaneNote, lost: () => void): void {
    const pending = this.#of(hold, lost);
    for (const { site, health: now } of health) pending.health.set(site, now);
    if (waiting !== undefined) pending.waiting = waiting;
    this.#schedule();
  }

  /** Resolves when everything added for this lane so far is written or has turned out to be lost. */
  flush(hold: LaneHold): Promise<void> {
    const pending = this.#pending.get(hold);
    if (pending === undefined && !this.#writing) return Promise.resolve();
    return new Promise((resolve) => {
      this.#of(hold, pending?.lost ?? (() => {})).flushed.push(resolve);
      void this.#write();
    });
  }

  /** Whether outcomes of this lane are still unwritten: until then the store is behind. */
  isWriting(hold: LaneHold): boolean {
    return this.#writing || this.#pending.has(hold);
  }

  /** The process ends: unwritten outcomes are dropped, and the next start requeues their tasks. */
  stop(): void {
    this.#stopped = true;
    this.#room.raise();
  }

  #of(hold: LaneHold, lost: () => void): Pending {
    let pending = this.#pending.get(hold);
    if (pending === undefined) {
      pending = { hold, tasks: [], site: null, health: new Map(), waiting: undefined, lost, flushed: [] };
      this.#pending.set(hold, pending);
    }
    return pending;
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    const { clock, store } = this.#deps;
    const pauseMs = store.capabilities.singleEngine ? 0 : this.#wroteAt + SHARED_PAUSE_MS - clock.monotonic();
    clock.after(Math.max(GATHER_MS, pauseMs), () => void this.#write(), { keepAlive: true });
  }

  async #write(): Promise<void> {
    // Also while another write is in progress: at its end it must be able to schedule what has come in.
    this.#scheduled = false;
    if (this.#writing) return;
    this.#writing = true;
    while (this.#pending.size > 0) {
      const batch = [...this.#pending.values()];
      this.#pending = new Map();
      this.#count = 0;
      this.#wroteAt = this.#deps.clock.monotonic();
      const settled = await this.#persist(batch.map(toBatch));
      const lost = new Set(settled.lost);
      const dropped = new Set(settled.dropped);
      for (const pending of batch) {
        if (lost.has(pending.hold.laneId)) pending.lost();
        else this.#notifyWritten(pending.tasks.filter(({ task }) => !dropped.has(task.row)));
        for (const resolve of pending.flushed) resolve();
      }
      this.#deps.onSettled(settled);
      // Let ending tasks join the batch instead of writing them one by one.
      if (this.#pending.size > 0 && ![...this.#pending.values()].some((pending) => pending.flushed.length > 0)) break;
    }
    this.#writing = false;
    if (this.#pending.size > 0) this.#schedule();
  }

  #notifyWritten(written: readonly SettledTask[]): void {
    const { onWritten } = this.#deps;
    if (onWritten !== undefined) for (const settled of written) onWritten(settled);
  }

  /** Outcomes are kept until they can be written; a lane that was lost in between is reported as lost. */
  async #persist(batches: SettleBatch[]): Promise<Settled> {
    const { store, clock, backpressure } = this.#deps;
    for (;;) {
      try {
        return await store.settle(batches, clock.now());
      } catch (error) {
        if (this.#stopped) return { lost: batches.map(({ hold }) => hold.laneId), opened: [], ended: [] };
        if (!backpressure.report(error)) return this.#separate(batches, error);
        await this.#room.wait(clock, RETRY_MS);
      }
    }
  }

  /** One outcome that cannot be written must not keep the others from being written. */
  async #separate(batches: SettleBatch[], error: unknown): Promise<Settled> {
    // Site notes are written separately, even if the outcomes cannot be.
    const singles = batches.flatMap(({ tasks, ...rest }): SettleBatch[] => [
      ...(Object.keys(rest).length === 1 ? [] : [{ ...rest, tasks: [] }]),
      ...tasks.map((task) => ({ hold: rest.hold, tasks: [task] })),
    ]);
    const [only] = singles;
    if (singles.length !== 1 || only === undefined) {
      const parts: Settled[] = [];
      for (const single of singles) parts.push(await this.#persist([single]));
      return {
        lost: parts.flatMap((part) => part.lost),
        opened: parts.flatMap((part) => part.opened),
        ended: parts.flatMap((part) => part.ended),
        dropped: parts.flatMap((part) => part.dropped ?? []),
      };
    }
    const [task] = only.tasks;
    if (task === undefined) {
      this.#deps.log.error("cannot write the state of a site", { error: messageOf(error) });
      return { lost: [], opened: [], ended: [] };
    }
    this.#deps.log.error("cannot write an outcome", { task: task.task.id, error: messageOf(error) });
    // Not even the failure can be written: the lane is released, and its next owner requeues the task.
    if (task.verdict.kind === "failed") return { lost: [only.hold.laneId], opened: [], ended: [] };
    const verdict = { kind: "failed", failure: failure("internal", messageOf(error)) } as const;
    const instead = await this.#persist([{ hold: only.hold, tasks: [{ ...task, verdict }] }]);
    return { ...instead, dropped: [...(instead.dropped ?? []), task.task.row] };
  }
}

function toBatch(pending: Pending): SettleBatch {
  return {
    hold: pending.hold,
    tasks: pending.tasks,
    ...(pending.site === null ? {} : { site: pending.site }),
    ...(pending.health.size === 0 ? {} : { health: [...pending.health].map(([site, health]) => ({ site, health })) }),
    ...(pending.waiting === undefined ? {} : { waiting: pending.waiting }),
  };
}
