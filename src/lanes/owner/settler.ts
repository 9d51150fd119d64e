import { type Clock, sleep } from "../../base/clock.ts";
import { isOrbError, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { failure } from "../../domain/run/failure.ts";
import type { SiteHealth } from "../../domain/site/site-health.ts";
import type { Waiting } from "../../domain/run/waiting.ts";
import { Signal } from "../../base/signal.ts";
import type { Turn } from "../../store/ports/claim-port.ts";
import type { LaneHold, SettleBatch, Settled, SettledTask, Store } from "../../store/ports/port.ts";
import type { Politeness } from "../../store/records/site-records.ts";
import type { StoreBackpressure } from "../limits/store-backpressure.ts";
import type { LaneNote } from "./site-notes.ts";

/** A lane with outcomes or notes that are not written yet. */
interface Lane {
  hold: LaneHold;
  /** Not handed to the store yet. */
  fresh: Part;
  /** All that is not written: outcomes, and one object for all fresh notes. */
  open: Set<object>;
  lost: () => void;
  flushes: { awaits: Set<object>; resolve: () => void }[];
}

/** What is written of a lane at a time. */
interface Part {
  tasks: SettledTask[];
  site: { site: string; politeness: Politeness } | null;
  health: Map<string, SiteHealth>;
  /** Undefined: as before. */
  waiting: Waiting | null | undefined;
  /** Stands for the notes; null: there are none. */
  notes: object | null;
}

const noPart = (tasks: SettledTask[] = []): Part => ({
  tasks,
  site: null,
  health: new Map(),
  waiting: undefined,
  notes: null,
});

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
/** How long outcomes wait for a run that others have locked; in vain, twice as long the next time. */
export const TURN_MS = { first: 1000, most: 16_000 };

/**
 * Writes the outcomes of all lanes of the process in few transactions. Where others write, too, outcomes of runs that
 * they have locked are left out, and written by a second loop that waits for one run at a time: they hold up no others.
 */
export class Settler {
  readonly #deps: SettlerDeps;
  /** Keyed by the hold object: an owner has one and keeps it. */
  readonly #lanes = new Map<LaneHold, Lane>();
  /** Outcomes that were left out, by run; the run that was left out first is first. */
  readonly #busy = new Map<string, Map<Lane, SettledTask[]>>();
  #triedBusyAt = Number.NEGATIVE_INFINITY;
  /** How long to wait for runs that were waited for in vain. */
  readonly #turnMs = new Map<string, number>();
  #count = 0;
  #scheduled = false;
  #writing = false;
  #waiting = false;
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
    const lane = this.#of(hold, lost);
    lane.fresh.tasks.push(what.task);
    lane.open.add(what.task);
    if (what.site !== undefined && what.politeness) lane.fresh.site = { site: what.site, politeness: what.politeness };
    this.#count += 1;
    if (this.#count >= MOST_TASKS) void this.#write();
    else this.#schedule();
  }

  /** Notes about the lane's sites; the newest replaces earlier ones. */
  note(hold: LaneHold, { health = [], waiting }: LaneNote, lost: () => void): void {
    const lane = this.#of(hold, lost);
    for (const { site, health: now } of health) lane.fresh.health.set(site, now);
    if (waiting !== undefined) lane.fresh.waiting = waiting;
    lane.open.add((lane.fresh.notes ??= {}));
    this.#schedule();
  }

  /** Resolves when everything added for this lane so far is written or has turned out to be lost. */
  flush(hold: LaneHold): Promise<void> {
    const lane = this.#lanes.get(hold);
    if (lane === undefined) return Promise.resolve();
    return new Promise((resolve) => {
      lane.flushes.push({ awaits: new Set(lane.open), resolve });
      void this.#write();
    });
  }

  /** Whether outcomes of this lane are still unwritten: until then the store is behind. */
  isWriting(hold: LaneHold): boolean {
    return this.#lanes.has(hold);
  }

  /** The process ends: unwritten outcomes are dropped, and the next start requeues their tasks. */
  stop(): void {
    this.#stopped = true;
    this.#room.raise();
  }

  #of(hold: LaneHold, lost: () => void): Lane {
    let lane = this.#lanes.get(hold);
    if (lane === undefined) {
      lane = { hold, fresh: noPart(), open: new Set(), lost, flushes: [] };
      this.#lanes.set(hold, lane);
    }
    return lane;
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
    for (let parts = this.#take(); parts.size > 0; parts = this.#take()) {
      this.#wroteAt = this.#deps.clock.monotonic();
      await this.#settle(parts, "try");
      // Let ending tasks join the batch instead of writing them one by one.
      if (!this.#freshLanes().some(({ flushes }) => flushes.length > 0)) break;
    }
    this.#writing = false;
    if (this.#busy.size > 0 || this.#freshLanes().length > 0) this.#schedule();
  }

  #freshLanes(): Lane[] {
    return [...this.#lanes.values()].filter(({ fresh }) => fresh.tasks.length > 0 || fresh.notes !== null);
  }

  /** All that may be written: from time to time also what was left out before, as it may be free by now. */
  #take(): Map<Lane, Part> {
    const parts = new Map<Lane, Part>();
    for (const lane of this.#freshLanes()) {
      parts.set(lane, lane.fresh);
      lane.fresh = noPart();
    }
    this.#count = 0;
    const now = this.#deps.clock.monotonic();
    if (now - this.#triedBusyAt < SHARED_PAUSE_MS) return parts;
    this.#triedBusyAt = now;
    for (const left of this.#busy.values())
      for (const [lane, tasks] of left) {
        const part = parts.get(lane) ?? noPart();
        parts.set(lane, part);
        part.tasks.push(...tasks);
      }
    this.#busy.clear();
    return parts;
  }

  /** Waits for one run after the other; those that wait behind it are tried again meanwhile. */
  async #waitForRuns(): Promise<void> {
    if (this.#waiting) return;
    this.#waiting = true;
    for (let [first] = this.#busy; first !== undefined; [first] = this.#busy) {
      const [runId, left] = first;
      this.#busy.delete(runId);
      const waitMs = this.#turnMs.get(runId) ?? TURN_MS.first;
      const isDone = await this.#settle(new Map([...left].map(([lane, tasks]) => [lane, noPart(tasks)])), { waitMs });
      if (isDone) this.#turnMs.delete(runId);
      else {
        this.#turnMs.set(runId, Math.min(TURN_MS.most, 2 * waitMs));
        await sleep(this.#deps.clock, RETRY_MS);
      }
    }
    this.#waiting = false;
  }

  /** Whether nothing was left out. */
  async #settle(parts: ReadonlyMap<Lane, Part>, turn: Turn): Promise<boolean> {
    const settled = await this.#persist(
      [...parts].map(([{ hold }, part]) => toBatch(hold, part)),
      turn,
    );
    const lost = new Set(settled.lost);
    const dropped = new Set(settled.dropped);
    const busy = new Set(settled.busy);
    for (const [lane, { tasks, notes }] of parts) {
      const isLost = lost.has(lane.hold.laneId);
      const left = isLost ? [] : tasks.filter(({ task }) => busy.has(task.row));
      const done = left.length === 0 ? tasks : tasks.filter(({ task }) => !busy.has(task.row));
      if (isLost) lane.lost();
      else this.#notifyWritten(done.filter(({ task }) => !dropped.has(task.row)));
      for (const { task } of done) this.#turnMs.delete(task.runId);
      this.#end(lane, notes === null ? done : [...done, notes]);
      for (const task of left) this.#leave(lane, task);
    }
    this.#deps.onSettled(settled);
    if (this.#busy.size > 0) void this.#waitForRuns();
    return busy.size === 0;
  }

  #leave(lane: Lane, settled: SettledTask): void {
    const { runId } = settled.task;
    const left = this.#busy.get(runId) ?? new Map<Lane, SettledTask[]>();
    this.#busy.set(runId, left);
    left.set(lane, [...(left.get(lane) ?? []), settled]);
  }

  #end(lane: Lane, written: readonly object[]): void {
    for (const one of written) {
      lane.open.delete(one);
      for (const { awaits } of lane.flushes) awaits.delete(one);
    }
    const [over, others] = [[] as Lane["flushes"], [] as Lane["flushes"]];
    for (const flush of lane.flushes) (flush.awaits.size === 0 ? over : others).push(flush);
    lane.flushes = others;
    if (lane.open.size === 0) this.#lanes.delete(lane.hold);
    for (const { resolve } of over) resolve();
  }

  #notifyWritten(written: readonly SettledTask[]): void {
    const { onWritten } = this.#deps;
    if (onWritten !== undefined) for (const settled of written) onWritten(settled);
  }

  /** Outcomes are kept until they can be written; a lane that was lost in between is reported as lost. */
  async #persist(batches: SettleBatch[], turn: Turn): Promise<Settled> {
    const { store, clock, backpressure } = this.#deps;
    for (;;) {
      try {
        return await store.settle(batches, clock.now(), turn);
      } catch (error) {
        if (this.#stopped) return { lost: batches.map(({ hold }) => hold.laneId), opened: [], ended: [] };
        // Others still have the run; everything else goes on.
        if (turn !== "try" && isOrbError(error, "database_busy"))
          return { lost: [], opened: [], ended: [], busy: rowsOf(batches) };
        if (!backpressure.report(error)) return this.#separate(batches, turn, error);
        await this.#room.wait(clock, RETRY_MS);
      }
    }
  }

  /** One outcome that cannot be written must not keep the others from being written. */
  async #separate(batches: SettleBatch[], turn: Turn, error: unknown): Promise<Settled> {
    // Site notes are written separately, even if the outcomes cannot be.
    const singles = batches.flatMap(({ tasks, ...rest }): SettleBatch[] => [
      ...(Object.keys(rest).length === 1 ? [] : [{ ...rest, tasks: [] }]),
      ...tasks.map((task) => ({ hold: rest.hold, tasks: [task] })),
    ]);
    const [only] = singles;
    if (singles.length !== 1 || only === undefined) {
      const parts: Settled[] = [];
      for (const single of singles) parts.push(await this.#persist([single], turn));
      return {
        lost: parts.flatMap((part) => part.lost),
        opened: parts.flatMap((part) => part.opened),
        ended: parts.flatMap((part) => part.ended),
        dropped: parts.flatMap((part) => part.dropped ?? []),
        busy: parts.flatMap((part) => part.busy ?? []),
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
    const instead = await this.#persist([{ hold: only.hold, tasks: [{ ...task, verdict }] }], turn);
    return { ...instead, dropped: [...(instead.dropped ?? []), task.task.row] };
  }
}

const rowsOf = (batches: readonly SettleBatch[]) => batches.flatMap(({ tasks }) => tasks.map(({ task }) => task.row));

function toBatch(hold: LaneHold, { tasks, site, health, waiting }: Part): SettleBatch {
  return {
    hold,
    tasks,
    ...(site === null ? {} : { site }),
    ...(health.size === 0 ? {} : { health: [...health].map(([name, now]) => ({ site: name, health: now })) }),
    ...(waiting === undefined ? {} : { waiting }),
  };
}
