import { CLOSED_BREAKER } from "../../../src/domain/lane/circuit.ts";
import { laneOfSite } from "../../../src/domain/lane/lane.ts";
import { NO_TASKS } from "../../../src/domain/run/run-end.ts";
import type { LaneHold } from "../../../src/store/ports/port.ts";
import type { Politeness, SiteRecord } from "../../../src/store/records/site-records.ts";
import { Fifo } from "./fifo.ts";

export interface Page {
  number: number;
  run: number;
  tries: number;
  ended: boolean;
  /** What the owner's window asks a task for. */
  resolver: null;
}

export type Verdict = { kind: "ended" } | { kind: "again" } | { kind: "retry"; readyAt: number };

export interface Outcome {
  page: Page;
  verdict: Verdict;
}

/** A lane as the store has it: one site's pages, who owns them, and what the site has asked for. */
export class Lane {
  readonly index: number;
  readonly site: SiteRecord;
  readonly #ready = new Fifo<Page>();
  /** How many of each run are ready. */
  readonly #readyOf = new Map<number, number>();
  #retries: { page: Page; at: number }[] = [];
  readonly #claimed = new Set<Page>();
  /** Pages without an end. */
  open = 0;
  #owner: string | null = null;
  #epoch = 0;
  #leaseUntil = Number.NEGATIVE_INFINITY;
  /** Whether a ticket waits in line, now or for a time to come. */
  ticket: "none" | "waits" | "delayed" = "none";
  /** Until then whoever was given the ticket last is believed to have it. */
  ticketUntil = Number.NEGATIVE_INFINITY;
  /** When its owner was killed or frozen, until somebody goes on with it. */
  orphan: { since: number; by: "kill" | "freeze" } | null = null;
  /** It was given back without open pages. */
  isDone = false;
  ownerChanges = 0;
  /** Work that two have done: fetched again, because the one before could not write it any more. */
  recovered = 0;

  constructor(index: number, limits: { maxConcurrency: number; minDelayMs: number | null }) {
    this.index = index;
    const site = `s${index}.test`;
    this.site = {
      site,
      lane: laneOfSite(site),
      ...limits,
      requestsPerSecond: null,
      burst: null,
      paused: false,
      maxMemoryMb: null,
      strategy: null,
      respectRobots: null,
      shards: null,
      shardCount: 1,
      targetShardCount: 1,
      group: null,
      dependsOn: [],
      holdUntil: 0,
      holdStep: 0,
      breaker: CLOSED_BREAKER,
      crawlDelayMs: null,
      learned: null,
      health: null,
      waiting: null,
      waitsFor: [],
      counts: NO_TASKS,
      firstSeenAt: 0,
    };
  }

  add(page: Page): void {
    this.#makeReady(page);
    this.open += 1;
  }

  #makeReady(page: Page): void {
    this.#ready.push(page);
    this.#countReady(page, 1);
  }

  #countReady({ run }: Page, change: 1 | -1): void {
    const count = (this.#readyOf.get(run) ?? 0) + change;
    if (count === 0) this.#readyOf.delete(run);
    else this.#readyOf.set(run, count);
  }

  hasOwner(now: number): boolean {
    return this.#owner !== null && this.#leaseUntil >= now;
  }

  /** When something of it is ready; null: nothing is, and nothing will be by itself. */
  readyAt(now: number): number | null {
    if (this.#ready.size > 0) return now;
    if (this.#claimed.size > 0 && !this.hasOwner(now)) return now;
    return this.nextRetryAt;
  }

  get owner(): string | null {
    return this.#owner;
  }

  get leaseUntil(): number {
    return this.#leaseUntil;
  }

  /** Runs of which pages are ready, or were claimed by an owner that is gone. */
  runsOf(which: "ready" | "claimed"): Set<number> {
    if (which === "claimed") return new Set([...this.#claimed].map(({ run }) => run));
    return new Set([...this.#readyOf.keys(), ...this.#retries.map(({ page }) => page.run)]);
  }

  take(owner: string, ttlMs: number, now: number): LaneHold | null {
    if (this.open === 0 || this.hasOwner(now)) return null;
    if (this.#owner !== owner) this.ownerChanges += 1;
    this.#owner = owner;
    this.#epoch += 1;
    this.#leaseUntil = now + ttlMs;
    this.ticketUntil = this.#leaseUntil;
    this.recovered += this.#claimed.size;
    for (const page of this.#claimed) this.#makeReady(page);
    this.#claimed.clear();
    return { laneId: this.index, epoch: this.#epoch, owner };
  }

  prolong(owner: string, until: number): void {
    if (this.#owner !== owner) return;
    this.#leaseUntil = until;
    this.ticketUntil = until;
  }

  release({ epoch }: LaneHold): boolean {
    if (epoch !== this.#epoch) return false;
    this.#leaseUntil = Number.NEGATIVE_INFINITY;
    this.ticketUntil = Number.NEGATIVE_INFINITY;
    return true;
  }

  /** Pages of runs that are not locked are left for the next time. */
  claim({ epoch }: LaneHold, limit: number, now: number, locked: ReadonlySet<number>): Page[] | null {
    if (epoch !== this.#epoch) return null;
    const isDue = ({ page, at }: { page: Page; at: number }) => at <= now && locked.has(page.run);
    for (const retry of this.#retries.filter(isDue)) this.#makeReady(retry.page);
    this.#retries = this.#retries.filter((retry) => !isDue(retry));
    const pages: Page[] = [];
    const left: Page[] = [];
    while (pages.length < limit) {
      const page = this.#ready.shift();
      if (page === undefined) break;
      this.#countReady(page, -1);
      (locked.has(page.run) ? pages : left).push(page);
    }
    for (const page of left) this.#makeReady(page);
    for (const page of pages) this.#claimed.add(page);
    return pages;
  }

  get hasReady(): boolean {
    return this.#ready.size > 0;
  }

  get nextRetryAt(): number | null {
    return this.#retries.length === 0 ? null : Math.min(...this.#retries.map(({ at }) => at));
  }

  /** How many pages have come to their end; null: the hold is from before, and nothing is written. */
  settle({ epoch }: LaneHold, outcomes: readonly Outcome[], politeness: Politeness | null): number | null {
    if (epoch !== this.#epoch) return null;
    let ended = 0;
    for (const { page, verdict } of outcomes) {
      if (!this.#claimed.delete(page) || page.ended) throw new Error(`page ${page.number} is settled twice`);
      if (verdict.kind === "retry") this.#retries.push({ page, at: verdict.readyAt });
      else if (verdict.kind === "again") this.#makeReady(page);
      else {
        page.ended = true;
        this.open -= 1;
        ended += 1;
      }
    }
    if (politeness !== null) Object.assign(this.site, politeness);
    return ended;
  }
}
