import { MOST_TASKS, RETRY_MS } from "../../../src/lanes/owner/settler.ts";
import type { LaneHold } from "../../../src/store/ports/port.ts";
import type { Politeness } from "../../../src/store/records/site-records.ts";
import type { Database } from "./database.ts";
import type { Lane, Outcome } from "./lane.ts";
import type { ClusterPlan } from "./plan.ts";
import type { Being, Timeline } from "./timeline.ts";

export interface Settling {
  lane: Lane;
  hold: LaneHold;
  onLost: () => void;
}

interface Pending {
  outcomes: Outcome[];
  politeness: Politeness | null;
  flushed: (() => void)[];
}

/** The outcomes of a worker, gathered and written together as the product does it, with its own figures. */
export class Settler {
  readonly #by: Being;
  readonly #timeline: Timeline;
  readonly #database: Database;
  readonly #plan: ClusterPlan;
  readonly #onEnded: (pages: number) => void;
  readonly #onBusy: () => void;
  #pending = new Map<Settling, Pending>();
  #count = 0;
  #scheduled = false;
  #writing = false;
  #wroteAt = Number.NEGATIVE_INFINITY;

  constructor(
    by: Being,
    timeline: Timeline,
    database: Database,
    plan: ClusterPlan,
    onEnded: (pages: number) => void,
    onBusy: () => void,
  ) {
    this.#by = by;
    this.#timeline = timeline;
    this.#database = database;
    this.#plan = plan;
    this.#onEnded = onEnded;
    this.#onBusy = onBusy;
  }

  add(owner: Settling, outcome: Outcome, politeness: Politeness | null): void {
    const pending = this.#of(owner);
    pending.outcomes.push(outcome);
    pending.politeness = politeness ?? pending.politeness;
    this.#count += 1;
    if (this.#count >= MOST_TASKS) this.#write();
    else this.#schedule();
  }

  /** When everything of this lane so far is written, or has turned out to be lost. */
  flush(owner: Settling, then: () => void): void {
    if (!this.#pending.has(owner) && !this.#writing) return then();
    this.#of(owner).flushed.push(then);
    this.#write();
  }

  #of(owner: Settling): Pending {
    let pending = this.#pending.get(owner);
    if (pending === undefined) {
      pending = { outcomes: [], politeness: null, flushed: [] };
      this.#pending.set(owner, pending);
    }
    return pending;
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    const pauseMs = this.#wroteAt + this.#plan.pauseMs - this.#timeline.now();
    this.#timeline.at(Math.max(this.#plan.gatherMs, pauseMs), this.#by, () => this.#write());
  }

  #write(): void {
    this.#scheduled = false;
    if (this.#writing || this.#pending.size === 0) return;
    this.#writing = true;
    this.#wroteAt = this.#timeline.now();
    const batch = [...this.#pending];
    this.#pending = new Map();
    this.#count = 0;
    this.#persist(batch);
  }

  /** Outcomes are kept until they can be written. */
  #persist(batch: readonly [Settling, Pending][]): void {
    const lost: Settling[] = [];
    const runs = new Set(batch.flatMap(([, { outcomes }]) => outcomes.map(({ page }) => page.run)));
    const work = () => {
      let rows = 0;
      lost.length = 0;
      for (const [owner, { outcomes, politeness }] of batch) {
        const ended = owner.lane.settle(owner.hold, outcomes, politeness);
        if (ended === null) lost.push(owner);
        else {
          rows += outcomes.length * (this.#plan.rowsPerPage - 1);
          this.#onEnded(ended);
        }
      }
      return rows;
    };
    const failed = () => {
      this.#onBusy();
      this.#timeline.at(RETRY_MS, this.#by, () => this.#persist(batch));
    };
    const done = () => {
      this.#writing = false;
      for (const owner of lost) owner.onLost();
      for (const [, { flushed }] of batch) for (const then of flushed) then();
      if ([...this.#pending.values()].some(({ flushed }) => flushed.length > 0)) this.#write();
      else if (this.#pending.size > 0) this.#schedule();
    };
    const lanes = batch.map(([owner]) => owner.lane.index);
    this.#database.write(this.#by, { verb: "settle", runs: () => runs, lanes, work, done, failed });
  }
}
