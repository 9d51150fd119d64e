import { MOST_TASKS, RETRY_MS, SHARED_PAUSE_MS, TURN_MS } from "../../../src/lanes/owner/settler.ts";
import type { LaneHold } from "../../../src/store/ports/port.ts";
import type { Politeness } from "../../../src/store/records/site-records.ts";
import type { Turn } from "../../../src/store/ports/claim-port.ts";
import type { Database, Transaction } from "./database.ts";
import type { Lane, Outcome } from "./lane.ts";
import type { ClusterPlan } from "./plan.ts";
import type { Being, Timeline } from "./timeline.ts";
import type { Turns } from "./turns.ts";

export interface Settling {
  lane: Lane;
  hold: LaneHold;
  onLost: () => void;
}

/** What is written of a lane at a time. */
interface Part {
  outcomes: Outcome[];
  politeness: Politeness | null;
}

/** A lane with outcomes that are not written yet, and who waits for which of them. */
interface Open {
  outcomes: Set<Outcome>;
  flushes: { awaits: Set<Outcome>; done: () => void }[];
}

type Batch = ReadonlyMap<Settling, Part>;

/**
 * The outcomes of a worker, gathered and written together as the product does it, with its own figures: those of runs that
 * others have locked are left out, and a second loop waits for one run after the other.
 */
export class Settler {
  readonly #by: Being;
  readonly #timeline: Timeline;
  readonly #database: Database;
  readonly #turns: Turns;
  readonly #plan: ClusterPlan;
  readonly #onEnded: (pages: number) => void;
  readonly #onBusy: () => void;
  readonly #open = new Map<Settling, Open>();
  #fresh = new Map<Settling, Part>();
  /** Outcomes that were left out, by run. */
  readonly #busy = new Map<number, Map<Settling, Outcome[]>>();
  #triedBusyAt = Number.NEGATIVE_INFINITY;
  readonly #turnMs = new Map<number, number>();
  #count = 0;
  #scheduled = false;
  #writing = false;
  #waiting = false;
  #wroteAt = Number.NEGATIVE_INFINITY;

  constructor(
    by: Being,
    timeline: Timeline,
    database: Database,
    turns: Turns,
    plan: ClusterPlan,
    onEnded: (pages: number) => void,
    onBusy: () => void,
  ) {
    this.#by = by;
    this.#timeline = timeline;
    this.#database = database;
    this.#turns = turns;
    this.#plan = plan;
    this.#onEnded = onEnded;
    this.#onBusy = onBusy;
  }

  add(owner: Settling, outcome: Outcome, politeness: Politeness | null): void {
    const part = partOf(this.#fresh, owner);
    part.outcomes.push(outcome);
    part.politeness = politeness ?? part.politeness;
    const open = this.#open.get(owner) ?? { outcomes: new Set(), flushes: [] };
    this.#open.set(owner, open);
    open.outcomes.add(outcome);
    this.#count += 1;
    if (this.#count >= MOST_TASKS) this.#write();
    else this.#schedule();
  }

  /** When everything of this lane so far is written, or has turned out to be lost. */
  flush(owner: Settling, done: () => void): void {
    const open = this.#open.get(owner);
    if (open === undefined) return done();
    open.flushes.push({ awaits: new Set(open.outcomes), done });
    this.#write();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    const pauseMs = this.#wroteAt + this.#plan.pauseMs - this.#timeline.now();
    this.#timeline.at(Math.max(this.#plan.gatherMs, pauseMs), this.#by, () => this.#write());
  }

  #write(): void {
    this.#scheduled = false;
    if (this.#writing) return;
    const batch = this.#take();
    if (batch.size === 0) return this.#busy.size > 0 ? this.#schedule() : undefined;
    this.#writing = true;
    this.#wroteAt = this.#timeline.now();
    this.#persist(batch, "try", () => {
      this.#writing = false;
      if ([...this.#fresh.keys()].some((owner) => (this.#open.get(owner)?.flushes.length ?? 0) > 0)) this.#write();
      else if (this.#fresh.size > 0 || this.#busy.size > 0) this.#schedule();
    });
  }

  /** All that may be written: also what was left out before, as it may be free by now. */
  #take(): Map<Settling, Part> {
    const batch = this.#fresh;
    this.#fresh = new Map();
    this.#count = 0;
    const now = this.#timeline.now();
    if (now - this.#triedBusyAt < SHARED_PAUSE_MS) return batch;
    this.#triedBusyAt = now;
    for (const left of this.#busy.values())
      for (const [owner, outcomes] of left) partOf(batch, owner).outcomes.push(...outcomes);
    this.#busy.clear();
    return batch;
  }

  #waitForRuns(): void {
    const [first] = this.#busy;
    if (this.#waiting) return;
    if (first === undefined) return;
    this.#waiting = true;
    const [run, left] = first;
    this.#busy.delete(run);
    const batch = new Map([...left].map(([owner, outcomes]) => [owner, { outcomes, politeness: null }]));
    const waitMs = this.#turnMs.get(run) ?? TURN_MS.first;
    const goOn = () => {
      this.#waiting = false;
      this.#waitForRuns();
    };
    this.#persist(batch, { waitMs }, (isDone) => {
      if (isDone) {
        this.#turnMs.delete(run);
        return goOn();
      }
      this.#turnMs.set(run, Math.min(TURN_MS.most, 2 * waitMs));
      this.#timeline.at(RETRY_MS, this.#by, goOn);
    });
  }

  /** Outcomes are kept until they can be written. */
  #persist(batch: Batch, turn: Turn, ended: (isDone: boolean) => void): void {
    const lost = new Set<Settling>();
    const busy = new Map<Settling, Outcome[]>();
    const wanted = new Set([...batch.values()].flatMap(({ outcomes }) => outcomes.map(({ page }) => page.run)));
    const jobs = this.#jobsOf([...batch.values()]);
    const work = ({ lockedRuns, missedJobs }: Transaction) => {
      const isOurs = ({ page }: Outcome) => lockedRuns.has(page.run) && !missedJobs.has(this.#jobOf(page.run));
      let rows = 0;
      lost.clear();
      busy.clear();
      for (const [owner, { outcomes, politeness }] of batch) {
        const { ours = [], others = [] } = Object.groupBy(outcomes, (outcome) => (isOurs(outcome) ? "ours" : "others"));
        const ended = owner.lane.settle(owner.hold, ours, politeness);
        if (ended === null) {
          lost.add(owner);
          continue;
        }
        busy.set(owner, others);
        rows += ours.length * (this.#plan.rowsPerPage - 1);
        this.#onEnded(ended);
      }
      return rows;
    };
    const failed = () => {
      if (turn !== "try") {
        for (const [owner, { outcomes }] of batch) busy.set(owner, outcomes);
        return done();
      }
      this.#onBusy();
      this.#timeline.at(RETRY_MS, this.#by, () => this.#persist(batch, turn, ended));
    };
    const done = () => {
      for (const [owner, { outcomes }] of batch) {
        if (lost.has(owner)) owner.onLost();
        const left = new Set(lost.has(owner) ? [] : busy.get(owner));
        for (const outcome of left) this.#leave(owner, outcome);
        this.#end(
          owner,
          outcomes.filter((outcome) => !left.has(outcome)),
        );
      }
      ended([...busy.values()].every(({ length }) => length === 0));
      this.#waitForRuns();
    };
    const lanes = [...batch.keys()].map((owner) => owner.lane.index);
    const write = { verb: "settle", runs: () => wanted, jobs, lanes, work, done, failed } as const;
    if (turn === "try") this.#turns.settle(write);
    else this.#database.write(this.#by, { ...write, turn });
  }

  /** Those of which an outcome changes what their runs share. */
  #jobsOf(parts: readonly Part[]): number[] {
    if (this.#plan.jobs === 0) return [];
    const ended = parts.flatMap(({ outcomes }) => outcomes).filter(({ verdict }) => verdict.kind === "ended");
    return [...new Set(ended.map(({ page }) => this.#jobOf(page.run)))];
  }

  #jobOf(run: number): number {
    return run % this.#plan.jobs;
  }

  #leave(owner: Settling, outcome: Outcome): void {
    const left = this.#busy.get(outcome.page.run) ?? new Map<Settling, Outcome[]>();
    this.#busy.set(outcome.page.run, left);
    left.set(owner, [...(left.get(owner) ?? []), outcome]);
  }

  #end(owner: Settling, written: readonly Outcome[]): void {
    const open = this.#open.get(owner);
    if (open === undefined) return;
    for (const outcome of written) {
      open.outcomes.delete(outcome);
      for (const { awaits } of open.flushes) awaits.delete(outcome);
    }
    const { over = [], others = [] } = Object.groupBy(open.flushes, ({ awaits }) =>
      awaits.size === 0 ? "over" : "others",
    );
    open.flushes = others;
    if (open.outcomes.size === 0) this.#open.delete(owner);
    for (const { done } of over) done();
  }
}

function partOf(batch: Map<Settling, Part>, owner: Settling): Part {
  let part = batch.get(owner);
  if (part === undefined) batch.set(owner, (part = { outcomes: [], politeness: null }));
  return part;
}
