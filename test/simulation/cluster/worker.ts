import { evenLaneShare, laneShare, type LaneShares, shouldYieldLane } from "../../../src/domain/lane/lane-share.ts";
import { PaceMemories } from "../../../src/lanes/limits/pace-memories.ts";
import { Slots } from "../../../src/lanes/limits/slots.ts";
import type { LaneHold } from "../../../src/store/ports/port.ts";
import { ClaimTurns } from "../../../src/store/postgres/claim-turns.ts";
import type { Cluster } from "./cluster.ts";
import type { Lane } from "./lane.ts";
import { Owner, type OwnerWorld } from "./owner.ts";
import type { Transaction } from "./database.ts";
import { Settler } from "./settling.ts";
import type { Being } from "./timeline.ts";
import { Turns } from "./turns.ts";

const PROBE_MS = 1000;

/** One `orb worker`: keeps its lease, takes tickets up to its share, and works on their lanes. */
export class Worker implements Being, OwnerWorld {
  alive = true;
  frozenUntil = 0;
  readonly transactions: Being["transactions"] = new Set();
  /** It was frozen: then it may lose its lease. */
  wasFrozen = false;
  /** It lost lanes, although it was never frozen. */
  lostAlive = false;
  isBusy = false;
  /** Times at which its claims paused, because the store was busy. */
  pauses = 0;
  readonly by = this;
  readonly timeline;
  readonly random;
  readonly database;
  readonly web;
  readonly paces = new PaceMemories();
  readonly settler: Settler;
  readonly claimTurns = new ClaimTurns();
  readonly turns: Turns;
  slots: Slots;
  readonly #cluster: Cluster;
  #name = "";
  #renewed = Number.NEGATIVE_INFINITY;
  #joined = false;
  #shares: LaneShares = { owners: 1, openLanes: 0 };
  readonly #owners = new Map<Lane, Owner>();
  /** Tickets on their way to becoming lanes. */
  #taking = 0;
  #inLine = false;
  pages = 0;
  fences = 0;
  readonly bornAt: number;
  firstLaneAt: number | null = null;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
    this.timeline = cluster.timeline;
    this.random = cluster.random;
    this.database = cluster.database;
    this.web = cluster.web;
    this.bornAt = this.timeline.now();
    this.slots = new Slots(() => cluster.plan.slots);
    this.turns = new Turns(this, this.timeline, this.database);
    this.settler = new Settler(
      this,
      this.timeline,
      this.database,
      this.turns,
      cluster.plan,
      (pages) => {
        this.pages += pages;
        cluster.pagesEnded(pages);
      },
      () => this.busy(),
    );
    this.#join();
    const { shareLookMs, reconcileMs } = cluster.plan;
    this.#every(0, shareLookMs, () => this.#lookAtShares());
    this.#every(this.random.next() * reconcileMs, reconcileMs, () => this.#reconcile());
  }

  get held(): number {
    return this.#owners.size + this.#taking;
  }

  get lanes(): IterableIterator<Lane> {
    return this.#owners.keys();
  }

  /** As many as its share, and never more than it could work on. */
  get #most(): number {
    return Math.min(this.#cluster.plan.slots, laneShare(this.#shares));
  }

  leaseHolds(): boolean {
    return this.#joined && this.timeline.now() - this.#renewed < this.#cluster.plan.leaseTtlMs;
  }

  /** Those that began first go first, and no more of them than others gain by. */
  yieldWanted(lane: Lane, forMs: number): boolean {
    let held = this.held;
    for (const other of this.#owners.keys()) {
      if (other === lane) break;
      held -= 1;
    }
    const most = Math.min(this.#cluster.plan.slots, evenLaneShare(this.#shares));
    return shouldYieldLane({ forMs, held, most, othersWait: this.#cluster.ticketsWaiting > 0 });
  }

  started(lane: Lane): void {
    this.#cluster.workGoesOn(lane);
  }

  ended(owner: Owner, end: { lost: boolean; waitMs: number | null }): void {
    this.#owners.delete(owner.lane);
    if (!end.lost) this.#cluster.laneGivenBack(owner.lane, end.waitMs);
    this.seek();
  }

  kill(): void {
    for (const owner of this.#owners.values()) owner.hide();
    this.alive = false;
    for (const transaction of this.transactions) transaction.died();
  }

  /** As the product does it: everything pauses, and goes on when a probe succeeds. */
  busy(): void {
    if (this.isBusy) return;
    this.isBusy = true;
    this.pauses += 1;
    this.#probeLater();
  }

  #probeLater(): void {
    this.timeline.at(PROBE_MS, this, () => {
      const done = () => {
        this.isBusy = false;
        for (const owner of this.#owners.values()) owner.goOn();
        this.seek();
      };
      this.database.write(this, { verb: "probe", work: () => 1, done, failed: () => this.#probeLater() });
    });
  }

  freeze(ms: number): void {
    this.frozenUntil = this.timeline.now() + ms;
    this.wasFrozen = true;
    for (const owner of this.#owners.values()) owner.hide();
    // First of all that happens then: whether its sockets count again.
    this.timeline.at(ms, null, () => {
      if (this.alive && this.leaseHolds()) for (const owner of this.#owners.values()) owner.show();
    });
  }

  /** Gets in line for a ticket, if it may have one more lane. */
  seek(): void {
    if (this.#inLine || this.isBusy || !this.leaseHolds() || this.held >= this.#most) return;
    this.#inLine = true;
    this.#cluster.waitForTicket(this);
  }

  /** Its turn in line has come. A frozen one has it, too, and does nothing with it. */
  ticketGiven(lane: Lane): void {
    this.#inLine = false;
    this.#taking += 1;
    this.timeline.at(this.#cluster.plan.roundTripMs, this, () => this.#take(lane));
    this.timeline.at(this.#cluster.plan.roundTripMs, this, () => this.seek());
  }

  #take(lane: Lane): void {
    const name = this.#name;
    let hold: LaneHold | null = null;
    const work = () => {
      if (this.#cluster.isOwner(name)) hold = lane.take(name, this.#cluster.plan.leaseTtlMs, this.timeline.now());
      return hold === null ? 0 : 1;
    };
    const failed = () => {
      this.#taking -= 1;
      this.busy();
      this.#cluster.takeFailed(lane);
    };
    const done = () => {
      this.#taking -= 1;
      if (hold !== null && name === this.#name) {
        this.firstLaneAt ??= this.timeline.now();
        this.#owners.set(lane, new Owner(this, lane, hold));
      }
      this.seek();
    };
    // Waits for a heartbeat of the last owner that is being written.
    const owners = lane.owner === null ? [] : [lane.owner];
    const runs = () => lane.runsOf("claimed");
    this.database.write(this, { verb: "take", runs, owners, lanes: [lane.index], work, done, failed });
  }

  #every(first: number, ms: number, fn: () => void): void {
    this.timeline.at(first, this, () => {
      fn();
      this.#every(ms, ms, fn);
    });
  }

  /** Under a new name each time: nobody inherits the leases of one that was given up. */
  #join(): void {
    const name = this.#cluster.newName();
    const asked = this.timeline.now();
    const work = () => {
      this.#cluster.prolongOwner(name);
      return 1;
    };
    const { heartbeatMs } = this.#cluster.plan;
    const begin = (renewed: number) => {
      this.#name = name;
      this.#joined = true;
      this.#renewed = renewed;
      this.#lookAtShares();
      this.#heartbeatIn(name, heartbeatMs);
    };
    const failed = () => this.timeline.at(PROBE_MS, this, () => this.#join());
    // Who waited long for its turn renews the lease before it begins.
    const done = () => {
      const now = this.timeline.now();
      if (now - asked < heartbeatMs) return begin(asked);
      this.database.write(this, { verb: "heartbeat", owners: [name], work, done: () => begin(now), failed });
    };
    this.database.write(this, { verb: "join", work, done, failed });
  }

  #heartbeatIn(name: string, ms: number): void {
    this.timeline.at(ms, this, () => this.#heartbeat(name));
  }

  /** As the product keeps its lease: one heartbeat after the other, and none is waited for longer than the lease lasts. */
  #heartbeat(name: string): void {
    const isOver = () => name !== this.#name || !this.#joined;
    if (isOver()) return;
    const { leaseTtlMs, heartbeatMs } = this.#cluster.plan;
    const asked = this.timeline.now();
    let known = false;
    let answered = false;
    this.timeline.at(this.#renewed + leaseTtlMs - asked, this, () => !answered && !isOver() && this.#fence());
    const next = () => {
      answered = true;
      if (isOver()) return;
      if (this.timeline.now() - this.#renewed > leaseTtlMs - heartbeatMs) this.#fence();
      else this.#heartbeatIn(name, heartbeatMs);
    };
    const renewed = () => {
      answered = true;
      if (isOver()) return;
      this.#renewed = asked;
      next();
    };
    const prolong = (lanes: readonly Lane[]) => {
      for (const lane of lanes) lane.prolong(name, this.timeline.now() + leaseTtlMs);
      return lanes.length;
    };
    const work = (transaction: Transaction) => {
      known = this.#cluster.isOwner(name);
      if (!known) return 0;
      this.#cluster.prolongOwner(name);
      return 1 + prolong([...this.#owners.keys()].filter((lane) => transaction.isFree(lane.index)));
    };
    const done = () => {
      if (isOver()) return;
      if (!known) return this.#fence();
      // A lane that is locked follows with the next heartbeat; the second time it is waited for a little.
      const isLate = (lane: Lane) => lane.owner === name && lane.leaseUntil - this.timeline.now() < leaseTtlMs / 2;
      const late = [...this.#owners.keys()].filter(isLate);
      if (late.length === 0) return renewed();
      const lanes = late.map(({ index }) => index);
      const turn = { soonMs: leaseTtlMs / 10 };
      const workLate = () => prolong(late);
      this.database.write(this, { verb: "late", lanes, turn, work: workLate, done: renewed, failed: renewed });
    };
    this.database.write(this, { verb: "heartbeat", owners: [name], work, done, failed: next });
    this.database.write(this, { verb: "pulse", work: () => 1, done: () => {}, failed: () => {} });
  }

  /** Its lanes may be somebody else's by now: it lets go of everything, and begins anew. */
  #fence(): void {
    this.fences += 1;
    // One that waited long for its turn to join has nothing to lose yet.
    if (!this.wasFrozen && this.held > 0) this.lostAlive = true;
    this.#joined = false;
    for (const owner of this.#owners.values()) owner.stop();
    this.#owners.clear();
    this.slots = new Slots(() => this.#cluster.plan.slots);
    this.#join();
  }

  #lookAtShares(): void {
    this.database.read(this, () => {
      this.#shares = this.#cluster.shares();
      this.seek();
    });
  }

  #reconcile(): void {
    this.database.read(this, () => this.#cluster.reconcile());
  }
}
