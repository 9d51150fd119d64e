import { Fifo } from "./fifo.ts";
import type { ClusterPlan } from "./plan.ts";
import type { Being, Timeline } from "./timeline.ts";

export type Verb = "join" | "heartbeat" | "take" | "claim" | "settle" | "release";

interface Write {
  by: Being;
  verb: Verb;
  /** What it changes, within its turn; how many rows that were. */
  work: () => number;
  done: () => void;
  asked: number;
}

/** What was written in one second. */
export interface Second {
  transactions: number;
  rows: number;
  pages: number;
  busyMs: number;
}

/** One write transaction at a time over the whole cluster, and of each process one in line, as the store does it. */
export class Database {
  readonly #plan: ClusterPlan;
  readonly #timeline: Timeline;
  readonly #line = new Fifo<Write>();
  #busy = false;
  readonly #own = new Map<Being, Write[]>();
  readonly seconds: Second[] = [];
  readonly transactions: Record<Verb, number> = { join: 0, heartbeat: 0, take: 0, claim: 0, settle: 0, release: 0 };
  rows = 0;
  longestWaitMs = 0;

  constructor(plan: ClusterPlan, timeline: Timeline) {
    this.#plan = plan;
    this.#timeline = timeline;
  }

  /** `work` happens when its turn has come, unless the process died before; `done` when the process hears of it. */
  write(by: Being, verb: Verb, work: () => number, done: () => void): void {
    const write = { by, verb, work, done, asked: this.#timeline.now() };
    const own = this.#own.get(by);
    if (own !== undefined) {
      own.push(write);
      return;
    }
    this.#own.set(by, []);
    this.#send(write);
  }

  /** A read keeps nobody out. */
  read(by: Being, done: () => void): void {
    this.#timeline.at(this.#plan.roundTripMs, by, done);
  }

  pagesEnded(pages: number): void {
    this.#second().pages += pages;
  }

  #send(write: Write): void {
    this.#timeline.at(this.#plan.roundTripMs / 2, write.by, () => {
      this.#line.push(write);
      if (!this.#busy) this.#serve();
    });
  }

  #serve(): void {
    const write = this.#line.shift();
    this.#busy = write !== undefined;
    if (write === undefined) return;
    if (!write.by.alive) return this.#serve();
    const rows = write.work();
    const heldMs = this.#plan.writeMs + (rows * this.#plan.rowUs) / 1000;
    this.#count(write, rows, heldMs);
    this.#timeline.at(heldMs, null, () => this.#serve());
    this.#timeline.at(heldMs + this.#plan.roundTripMs / 2, write.by, () => {
      write.done();
      this.#next(write.by);
    });
  }

  /** The next of the same process, which has one connection that writes. */
  #next(by: Being): void {
    const next = this.#own.get(by)?.shift();
    if (next === undefined) this.#own.delete(by);
    else this.#send(next);
  }

  #count({ by, verb, asked }: Write, rows: number, heldMs: number): void {
    const second = this.#second();
    second.transactions += 1;
    second.rows += rows;
    second.busyMs += heldMs;
    this.transactions[verb] += 1;
    this.rows += rows;
    // Who was frozen meanwhile has itself to blame.
    if (by.frozenUntil < asked) this.longestWaitMs = Math.max(this.longestWaitMs, this.#timeline.now() - asked);
  }

  #second(): Second {
    const index = Math.floor(this.#timeline.now() / 1000);
    while (this.seconds.length <= index) this.seconds.push({ transactions: 0, rows: 0, pages: 0, busyMs: 0 });
    return this.seconds[index] as Second;
  }
}
