import { integerBelow, type Random, seededRandom } from "../../../src/base/random.ts";
import type { LaneShares } from "../../../src/domain/lane/lane-share.ts";
import { PATIENCE_MS } from "../../../src/lanes/owner/owner.ts";
import { Database } from "./database.ts";
import { Fifo } from "./fifo.ts";
import { Lane } from "./lane.ts";
import type { ClusterPlan } from "./plan.ts";
import { type Being, Timeline } from "./timeline.ts";
import { Web } from "./web.ts";
import { Worker } from "./worker.ts";

/** Every so manieth site wants a pause between two requests. */
const SLOW_SITES = 4;
const SLOW_DELAY_MS = 100;
const BOOT_MS = 1000;
const SUBMIT_AT_MS = 2000;
/** How many owners there are is counted at most so often: all who ask in between get the same answer. */
const COUNT_MS = 100;
/** So many tickets of a hundred are delivered twice, some time apart. */
const DOUBLED = 0.02;
const DOUBLED_WITHIN_MS = 5000;
const LONGEST_MS = 6 * 3_600_000;
const LONG_ADMISSIONS = 0.1;
/** So many pages of a site belong to one run, and the others to another, which has pages at other sites as well. */
const HOME_RUN = 0.7;

export interface Recovery {
  by: "kill" | "freeze";
  ms: number;
}

/** All machines together: the store's rows, the line of tickets, the sites, and the workers that come and go. */
export class Cluster {
  readonly plan: ClusterPlan;
  readonly random: Random;
  readonly timeline = new Timeline();
  readonly database: Database;
  readonly web: Web;
  readonly lanes: Lane[];
  readonly workers: Worker[] = [];
  readonly recoveries: Recovery[] = [];
  /** Lanes and pages of each worker right before the faults. */
  balance: { lanes: number; pages: number }[] = [];
  #tickets = new Fifo<Lane>();
  readonly #line = new Fifo<Worker>();
  readonly #leader: Being = { alive: true, frozenUntil: 0, transactions: new Set() };
  readonly #owners = new Map<string, number>();
  #names = 0;
  #open = 0;
  #counted: { at: number; owners: number } = { at: Number.NEGATIVE_INFINITY, owners: 0 };
  pagesDone = 0;
  readonly pages: number;

  constructor(plan: ClusterPlan) {
    this.plan = plan;
    this.random = seededRandom(plan.seed);
    this.database = new Database(plan, this.timeline);
    this.web = new Web(this.timeline, this.random, plan.latencyMs);
    let number = 0;
    this.lanes = Array.from({ length: plan.sites }, (_, index) => {
      const isSlow = index % SLOW_SITES === SLOW_SITES - 1;
      const limits = { maxConcurrency: isSlow ? 2 : 10, minDelayMs: isSlow ? SLOW_DELAY_MS : null };
      const lane = new Lane(index, limits);
      const pages = Math.max(1, Math.round(plan.pagesPerSite * (0.5 + this.random.next())));
      for (let left = pages; left > 0; left -= 1)
        lane.add({
          number: (number += 1),
          run: this.random.next() < HOME_RUN ? index % plan.runs : (index * 7 + 3) % plan.runs,
          tries: 0,
          ended: false,
          resolver: null,
        });
      return lane;
    });
    this.pages = number;
  }

  /** Plays it to the end: until every page has come to one. */
  run(): void {
    const { plan, timeline } = this;
    for (let index = 0; index < plan.workers; index += 1)
      timeline.at(this.random.next() * BOOT_MS, null, () => this.#boot());
    timeline.at(SUBMIT_AT_MS, null, () => {
      this.#open = this.lanes.length;
      for (const lane of this.lanes) this.offer(lane);
    });
    timeline.at(plan.faultAtMs, null, () => this.#disturb());
    this.#admitLater();
    timeline.run(() => this.pagesDone === this.pages, LONGEST_MS);
  }

  /** What concerns all runs is written by one process, again and again; sometimes it takes long. */
  #admitLater(): void {
    const { plan, timeline, random } = this;
    timeline.at(plan.admitMs, null, () => {
      const takesMs = random.next() < LONG_ADMISSIONS ? random.next() * plan.longestAdmitMs : 0;
      const over = () => this.#admitLater();
      this.database.write(this.#leader, { verb: "admit", work: () => 1, done: over, failed: over, takesMs });
    });
  }

  /** A lane that could not be taken, because the store was busy, is offered again. */
  takeFailed(lane: Lane): void {
    lane.ticketUntil = this.timeline.now();
    this.#offerAt(lane, this.timeline.now() + 1000);
  }

  #boot(): void {
    this.workers.push(new Worker(this));
  }

  #disturb(): void {
    const { killed, frozen, frozenMs, restartMs } = this.plan;
    this.balance = this.workers.map((worker) => ({ lanes: worker.held, pages: worker.pages }));
    const healthy = [...this.workers];
    for (let index = 0; index < killed + frozen && healthy.length > 0; index += 1) {
      const [victim] = healthy.splice(integerBelow(this.random, healthy.length), 1) as [Worker];
      const by = index < killed ? "kill" : "freeze";
      for (const lane of victim.lanes) if (lane.open > 0) lane.orphan = { since: this.timeline.now(), by };
      if (by === "freeze") victim.freeze(frozenMs);
      else {
        victim.kill();
        this.timeline.at(restartMs, null, () => this.#boot());
      }
    }
  }

  // What the store knows.

  newName(): string {
    return `worker-${(this.#names += 1)}`;
  }

  prolongOwner(name: string): void {
    this.#owners.set(name, this.timeline.now() + this.plan.leaseTtlMs);
  }

  isOwner(name: string): boolean {
    const until = this.#owners.get(name);
    if (until !== undefined && until < this.timeline.now()) this.#owners.delete(name);
    return this.#owners.has(name);
  }

  shares(): LaneShares {
    const now = this.timeline.now();
    if (now - this.#counted.at >= COUNT_MS)
      this.#counted = { at: now, owners: [...this.#owners.values()].filter((until) => until >= now).length };
    return { owners: this.#counted.owners, openLanes: this.#open };
  }

  pagesEnded(pages: number): void {
    this.pagesDone += pages;
    this.database.pagesEnded(pages);
  }

  // The line of tickets, as Redis has it.

  get ticketsWaiting(): number {
    return this.#tickets.size;
  }

  offer(lane: Lane): void {
    if (lane.ticket === "waits") return;
    lane.ticket = "waits";
    this.#tickets.push(lane);
    this.#dispatch();
  }

  waitForTicket(worker: Worker): void {
    this.#line.push(worker);
    this.#dispatch();
  }

  #dispatch(): void {
    while (this.#tickets.size > 0 && this.#line.size > 0) {
      const worker = this.#line.shift() as Worker;
      if (!worker.alive) continue;
      const lane = this.#tickets.shift() as Lane;
      // Redis promises to deliver at least once: the lane's owner and epoch have to stop the second one.
      const isDoubled = this.random.next() < DOUBLED;
      lane.ticket = "none";
      if (isDoubled) this.#offerAt(lane, this.timeline.now() + this.random.next() * DOUBLED_WITHIN_MS);
      lane.ticketUntil = this.timeline.now() + this.plan.leaseTtlMs;
      worker.ticketGiven(lane);
    }
  }

  #offerAt(lane: Lane, at: number): void {
    if (lane.ticket !== "none") return;
    lane.ticket = "delayed";
    this.timeline.at(at - this.timeline.now(), null, () => {
      if (lane.ticket === "delayed") this.offer(lane);
    });
  }

  laneGivenBack(lane: Lane, waitMs: number | null): void {
    const now = this.timeline.now();
    const readyAt = lane.readyAt(now);
    // Two may give back the same lane, one of them late.
    if (lane.open === 0 && !lane.isDone) {
      lane.isDone = true;
      this.#open -= 1;
    }
    if (readyAt === null) return;
    const at = Math.max(readyAt, waitMs !== null && waitMs > PATIENCE_MS ? now + waitMs : now);
    if (at > now) this.#offerAt(lane, at);
    else this.offer(lane);
  }

  /** Lanes that have work and neither an owner nor a ticket get one. */
  reconcile(): void {
    const now = this.timeline.now();
    for (const lane of this.lanes) {
      if (
        this.#open === 0 ||
        lane.open === 0 ||
        lane.ticket !== "none" ||
        lane.ticketUntil >= now ||
        lane.hasOwner(now)
      )
        continue;
      const readyAt = lane.readyAt(now);
      if (readyAt === null) continue;
      if (readyAt > now) this.#offerAt(lane, readyAt);
      else this.offer(lane);
    }
  }

  workGoesOn(lane: Lane): void {
    if (lane.orphan === null) return;
    this.recoveries.push({ by: lane.orphan.by, ms: this.timeline.now() - lane.orphan.since });
    lane.orphan = null;
  }
}
