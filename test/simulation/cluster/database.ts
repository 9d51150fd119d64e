import type { Turn } from "../../../src/store/ports/claim-port.ts";
import { STORE_ACCESS, type StoreMethods } from "../../../src/store/ports/access.ts";
import { PARTITIONS } from "../../../src/store/postgres/dialect.ts";
import { Fifo } from "./fifo.ts";
import { type Locker, type LockMode, Locks } from "./locks.ts";
import type { ClusterPlan } from "./plan.ts";
import type { Being, Timeline } from "./timeline.ts";

/** What is written, by which method of the store, in how many round trips. */
const VERBS = {
  join: { method: "joinOwners", trips: 3 },
  heartbeat: { method: "heartbeat", trips: 3 },
  late: { method: "heartbeat", trips: 2 },
  pulse: { method: "recordHeartbeat", trips: 2 },
  probe: { method: "probe", trips: 2 },
  take: { method: "takeLane", trips: 4 },
  claim: { method: "claim", trips: 4 },
  settle: { method: "settle", trips: 5 },
  release: { method: "releaseLane", trips: 2 },
  admit: { method: "admitCrawls", trips: 3 },
} as const satisfies Record<string, { method: keyof StoreMethods; trips: number }>;

export type Verb = keyof typeof VERBS;

const LEASES: ReadonlySet<Verb> = new Set(["heartbeat", "late", "pulse", "probe"]);

/** A write transaction. */
export interface Write {
  verb: Verb;
  /** The runs that it may write, found by the statement that locks them. */
  runs?: () => Iterable<number>;
  /** The jobs that it may write, whose runs share rows. */
  jobs?: readonly number[];
  /** Numbers of lanes; its rows of owners. Locked in order. */
  lanes?: readonly number[];
  owners?: readonly string[];
  /** How it goes about runs that others have locked: as the product's methods do. */
  turn?: Turn | { soonMs: number };
  /** What it changes, at its commit; how many rows that were. */
  work: (transaction: Transaction) => number;
  /** When the process hears of it. */
  done: () => void;
  /** It waited too long for a lock. */
  failed: () => void;
  /** How long it holds its locks besides, without keeping a core of the server busy. */
  takesMs?: number;
}

/** What a transaction may rely on while it works. */
export interface Transaction extends Locker {
  readonly lockedRuns: ReadonlySet<number>;
  /** Runs were left out, because others have locked them. */
  readonly missedRuns: boolean;
  readonly missedJobs: ReadonlySet<number>;
  /** Whether nobody else has locked the row of this lane, so that it may be written in passing. */
  isFree(lane: number): boolean;
}

/** What was written in one second. */
export interface Second {
  transactions: number;
  rows: number;
  pages: number;
  busyMs: number;
}

const lockOfRun = (run: number) => `partition ${run % PARTITIONS}`;
const lockOfJob = (job: number) => `job ${job}`;
const lockOfLane = (lane: number) => `lane ${lane}`;
const lockOfOwner = (owner: string) => `owner ${owner}`;

/**
 * The server and the connections to it. Each process has as many as the product: two that write, one for leases, and one
 * on which it waits for runs that others have locked.
 * Transactions take the locks of the scope that their method declares, in the product's order.
 */
export class Database {
  readonly #plan: ClusterPlan;
  readonly #timeline: Timeline;
  readonly #processes = new Map<Being, Connections>();
  readonly locks: Locks;
  readonly #waiting = new Fifo<{ ms: number; done: () => void }>();
  #busyCores = 0;
  readonly seconds: Second[] = [];
  readonly transactions = Object.fromEntries(Object.keys(VERBS).map((verb) => [verb, 0])) as Record<Verb, number>;
  rows = 0;
  longestWaitMs = 0;
  /** Transactions that were begun again, because their connection was ended. */
  repeated = 0;
  readonly violations: string[] = [];

  constructor(plan: ClusterPlan, timeline: Timeline) {
    this.#plan = plan;
    this.#timeline = timeline;
    this.locks = new Locks(timeline);
  }

  write(by: Being, write: Write): void {
    const queued = { ...write, by, asked: this.#timeline.now() };
    const connection = this.#of(by).for(queued);
    connection.line.push(queued);
    if (connection.line.length === 1) this.#begin(queued, connection);
  }

  /** A read keeps nobody out. */
  read(by: Being, done: () => void): void {
    this.#timeline.at(this.#plan.roundTripMs, by, done);
  }

  pagesEnded(pages: number): void {
    this.#second().pages += pages;
  }

  #of(by: Being): Connections {
    let connections = this.#processes.get(by);
    if (connections === undefined) this.#processes.set(by, (connections = new Connections()));
    return connections;
  }

  #begin(write: Queued, connection: Connection): void {
    const running = new Running(this.#plan, this.#timeline, this.locks, write, (ms, done) => this.#execute(ms, done));
    running.start({
      committed: (rows, ms) => this.#count(write, rows, ms),
      answered: () => {
        write.done();
        this.#next(connection);
      },
      failed: () => {
        write.failed();
        this.#next(connection);
      },
      lost: () => {
        this.repeated += 1;
        this.#begin(write, connection);
      },
      violates: (what) => this.violations.push(`${write.verb}: ${what}`),
    });
  }

  #next({ line }: Connection): void {
    line.shift();
    const [next] = line;
    if (next !== undefined) this.#begin(next, { line });
  }

  /** As many statements at once as the server has cores. */
  #execute(ms: number, done: () => void): void {
    if (this.#busyCores >= this.#plan.cores) return this.#waiting.push({ ms, done });
    this.#busyCores += 1;
    this.#timeline.at(ms, null, () => {
      this.#busyCores -= 1;
      done();
      const next = this.#waiting.shift();
      if (next !== undefined) this.#execute(next.ms, next.done);
    });
  }

  #count({ by, verb, asked }: Queued, rows: number, ms: number): void {
    const second = this.#second();
    second.transactions += 1;
    second.rows += rows;
    second.busyMs += ms / this.#plan.cores;
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

interface Queued extends Write {
  by: Being;
  asked: number;
}

interface Connection {
  line: Queued[];
}

class Connections {
  readonly #writers: Connection[] = [{ line: [] }, { line: [] }];
  readonly #leases: Connection = { line: [] };
  readonly #patient: Connection = { line: [] };

  for({ verb, lanes, turn }: Write): Connection {
    if (LEASES.has(verb)) return this.#leases;
    if (typeof turn === "object" && "waitMs" in turn) return this.#patient;
    const [first, second] = this.#writers as [Connection, Connection];
    if (verb === "claim") return (lanes?.[0] ?? 0) % 2 === 0 ? first : second;
    if (STORE_ACCESS[VERBS[verb].method] !== "runs") return first;
    return second.line.length < first.line.length ? second : first;
  }
}

const alone = (name: string): [string, LockMode] => [name, "alone"];

function limitOf(turn: Write["turn"]): number | undefined {
  if (typeof turn !== "object") return undefined;
  return "waitMs" in turn ? turn.waitMs : turn.soonMs;
}

interface Listener {
  committed(rows: number, ms: number): void;
  answered(): void;
  failed(): void;
  /** The server has ended the connection: everything is rolled back, and the process begins again. */
  lost(): void;
  violates(what: string): void;
}

/** One transaction, batch by batch. What was sent is done, whatever happens to the process meanwhile. */
class Running implements Transaction {
  readonly name: string;
  readonly lockedRuns = new Set<number>();
  missedRuns = false;
  readonly missedJobs = new Set<number>();
  readonly #plan: ClusterPlan;
  readonly #timeline: Timeline;
  readonly #locks: Locks;
  readonly #write: Queued;
  readonly #execute: (ms: number, done: () => void) => void;
  #listener!: Listener;
  #batch = 0;
  #isOver = false;

  constructor(
    plan: ClusterPlan,
    timeline: Timeline,
    locks: Locks,
    write: Queued,
    execute: (ms: number, done: () => void) => void,
  ) {
    this.#plan = plan;
    this.#timeline = timeline;
    this.#locks = locks;
    this.#write = write;
    this.#execute = execute;
    this.name = `${write.verb} ${write.lanes?.join("+") ?? ""}`;
  }

  isFree(lane: number): boolean {
    return this.#locks.isFree(lockOfLane(lane)) || this.#locks.holds(this, lockOfLane(lane));
  }

  start(listener: Listener): void {
    this.#listener = listener;
    this.#send();
  }

  /** The next batch of statements leaves the process, unless that is frozen or dead. */
  #send(): void {
    const { by } = this.#write;
    this.#timeline.at(this.#plan.roundTripMs / 2, by, () => {
      if (this.#isOver) return this.#listener.lost();
      this.#batch += 1;
      if (this.#batch === 1) this.#lockScope(() => this.#answer());
      else if (this.#batch === 2) this.#lock(this.#rowLocks(), () => (this.#isLast ? this.#commit() : this.#answer()));
      else if (this.#isLast) this.#commit();
      else this.#answer();
    });
  }

  get #isLast(): boolean {
    return this.#batch >= VERBS[this.#write.verb].trips;
  }

  #lockScope(then: () => void): void {
    const { verb, runs, turn } = this.#write;
    const jobs = (this.#write.jobs ?? []).toSorted((a, b) => a - b);
    const { broken } = this.#plan;
    const scope = STORE_ACCESS[VERBS[verb].method];
    if (scope === "row") return this.#lock(broken === "heartbeats wait" ? [["deployment", "shared"]] : [], then);
    if (scope === "all") return this.#lock([["deployment", "alone"]], then);
    const wanted = new Set(runs?.() ?? []);
    const partitions = [...new Set([...wanted].map((run) => run % PARTITIONS))];
    if (broken !== "order of locks") partitions.sort((a, b) => a - b);
    this.#lock([["deployment", "shared"]], () => {
      if (turn === "try" && broken !== "tries wait") {
        const got = new Set(partitions.filter((partition) => this.#locks.tryTake(this, lockOfRun(partition))));
        for (const run of wanted) if (got.has(run % PARTITIONS)) this.lockedRuns.add(run);
        this.missedRuns = this.lockedRuns.size < wanted.size;
        for (const job of jobs) if (!this.#locks.tryTake(this, lockOfJob(job))) this.missedJobs.add(job);
        return then();
      }
      for (const run of wanted) this.lockedRuns.add(run);
      // The time limit of the statement is that of all partitions together.
      this.#lock(
        partitions.map((partition) => alone(lockOfRun(partition))),
        () =>
          this.#lock(
            jobs.map((job) => alone(lockOfJob(job))),
            then,
          ),
        this.#timeline.now() + (limitOf(turn) ?? this.#plan.statementTimeoutMs),
      );
    });
  }

  #rowLocks(): [string, LockMode][] {
    const { owners = [], lanes = [] } = this.#write;
    return [
      ...owners.map((owner) => alone(lockOfOwner(owner))),
      ...lanes.toSorted((a, b) => a - b).map((lane) => alone(lockOfLane(lane))),
    ];
  }

  #lock([next, ...rest]: [string, LockMode][], then: () => void, deadline = Number.POSITIVE_INFINITY): void {
    if (next === undefined) return then();
    const [name, mode] = next;
    const limitMs = limitOf(this.#write.turn) ?? this.#plan.lockTimeoutMs;
    this.#locks.take(
      this,
      name,
      mode,
      () => !this.#isOver && this.#lock(rest, then, deadline),
      () => this.#fail(),
      Math.min(limitMs, deadline - this.#timeline.now()),
    );
  }

  #fail(): void {
    this.#end();
    this.#timeline.at(this.#plan.roundTripMs / 2, this.#write.by, () => this.#listener.failed());
  }

  #end(): void {
    this.#isOver = true;
    this.#locks.release(this);
  }

  /** The server waits for the next batch, but not for long: a transaction that does nothing holds up others. */
  #answer(): void {
    const { by } = this.#write;
    const batch = this.#batch;
    const isIdle = () => !this.#isOver && this.#batch === batch;
    this.#timeline.at(this.#plan.idleTimeoutMs, null, () => isIdle() && this.#end());
    if (!by.alive) return this.#end();
    // The server hears of the death of a process that waits for nothing.
    by.transactions.add(this);
    this.#timeline.at(this.#plan.roundTripMs / 2, by, () => {
      by.transactions.delete(this);
      this.#send();
    });
  }

  died(): void {
    this.#timeline.at(this.#plan.roundTripMs / 2, null, () => this.#end());
  }

  /** Rows that all share are written now, and events get their numbers. */
  #commit(): void {
    const { verb, by } = this.#write;
    const events: [string, LockMode][] = verb === "settle" || verb === "claim" ? [["events", "alone"]] : [];
    const write = () => {
      const rows = this.#write.work(this);
      const rowsMs = (rows * this.#plan.rowUs) / 1000;
      this.#check();
      const end = () => {
        this.#listener.committed(rows, this.#plan.writeMs + rowsMs);
        this.#end();
        this.#timeline.at(this.#plan.roundTripMs / 2, by, () => this.#listener.answered());
      };
      this.#execute(rowsMs, () => this.#timeline.at(this.#write.takesMs ?? 0, null, end));
    };
    this.#execute(this.#plan.writeMs, () => this.#lock(events, write));
  }

  #check(): void {
    const { lanes = [], jobs = [] } = this.#write;
    for (const job of jobs)
      if (!this.missedJobs.has(job) && !this.#locks.holds(this, lockOfJob(job)))
        this.#listener.violates(`job ${job} is written without its lock`);
    for (const run of this.lockedRuns)
      if (!this.#locks.holds(this, lockOfRun(run))) this.#listener.violates(`run ${run} is written without its lock`);
    for (const lane of lanes)
      if (!this.#locks.holds(this, lockOfLane(lane))) this.#listener.violates(`lane ${lane} is written unlocked`);
  }
}
