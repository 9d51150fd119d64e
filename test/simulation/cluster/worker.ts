import { evenLaneShare, laneShare, type LaneShares, shouldYieldLane } from "../../../src/domain/lane/lane-share.ts";
import { PaceMemories } from "../../../src/lanes/limits/pace-memories.ts";
import { Slots } from "../../../src/lanes/limits/slots.ts";
import type { LaneHold } from "../../../src/store/ports/port.ts";
import type { Cluster } from "./cluster.ts";
import type { Lane } from "./lane.ts";
import { Owner, type OwnerWorld } from "./owner.ts";
import { Settler } from "./settling.ts";
import type { Being } from "./timeline.ts";

/** One `orb worker`: keeps its lease, takes tickets up to its share, and works on their lanes. */
export class Worker implements Being, OwnerWorld {
  alive = true;
  frozenUntil = 0;
  readonly by = this;
  readonly timeline;
  readonly random;
  readonly database;
  readonly web;
  readonly paces = new PaceMemories();
  readonly settler: Settler;
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
    this.settler = new Settler(this, this.timeline, this.database, cluster.plan, (pages) => {
      this.pages += pages;
      cluster.pagesEnded(pages);
    });
    this.#join();
    const { heartbeatMs, shareLookMs, reconcileMs } = cluster.plan;
    this.#every(heartbeatMs, heartbeatMs, () => this.#heartbeat());
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
  }

  freeze(ms: number): void {
    this.frozenUntil = this.timeline.now() + ms;
    for (const owner of this.#owners.values()) owner.hide();
    // First of all that happens then: whether its sockets count again.
    this.timeline.at(ms, null, () => {
      if (this.alive && this.leaseHolds()) for (const owner of this.#owners.values()) owner.show();
    });
  }

  /** Gets in line for a ticket, if it may have one more lane. */
  seek(): void {
    if (this.#inLine || !this.leaseHolds() || this.held >= this.#most) return;
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
    this.database.write(this, "take", work, () => {
      this.#taking -= 1;
      if (hold !== null && name === this.#name) {
        this.firstLaneAt ??= this.timeline.now();
        this.#owners.set(lane, new Owner(this, lane, hold));
      }
      this.seek();
    });
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
    this.database.write(this, "join", work, () => {
      this.#name = name;
      this.#joined = true;
      this.#renewed = asked;
      this.#lookAtShares();
    });
  }

  #heartbeat(): void {
    if (!this.#joined) return;
    const { leaseTtlMs, heartbeatMs } = this.#cluster.plan;
    const asked = this.timeline.now();
    if (asked - this.#renewed > leaseTtlMs - heartbeatMs) return this.#fence();
    const name = this.#name;
    let known = false;
    const work = () => {
      known = this.#cluster.isOwner(name);
      if (!known) return 0;
      this.#cluster.prolongOwner(name);
      for (const lane of this.#owners.keys()) lane.prolong(name, this.timeline.now() + leaseTtlMs);
      return 1 + this.#owners.size;
    };
    this.database.write(this, "heartbeat", work, () => {
      if (name !== this.#name || !this.#joined) return;
      if (!known) return this.#fence();
      this.#renewed = asked;
    });
  }

  /** Its lanes may be somebody else's by now: it lets go of everything, and begins anew. */
  #fence(): void {
    this.fences += 1;
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
