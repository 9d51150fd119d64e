import type { Clock } from "../../base/clock.ts";
import { scoreOfPriority } from "../../domain/crawl/goal-score.ts";
import type { ClaimedTask } from "../../store/ports/port.ts";

const MAX_TARGET = 256;
/**
 * A window that lasts less than `tooShortMs` grows; one that lasts more than `tooLongMs` shrinks. Where processes share
 * one database, a claim costs all of them, so it serves for longer.
 */
export const PREFETCH = {
  // Not larger: tasks of the next run queue behind those claimed here.
  alone: { tooShortMs: 100, tooLongMs: 1000, initialGrowth: 2 },
  shared: { tooShortMs: 1500, tooLongMs: 6000, initialGrowth: 4 },
};

/**
 * An owner that would wait longer releases its lane. Where processes share lanes, releasing and taking costs more than
 * waiting, and a process that wants the lane gets it sooner anyway.
 */
export const IDLE_RELEASE_MS = { alone: 1000, shared: 30_000 };

/** Free capacity of resolvers. */
interface ResolverRoom {
  /** How many tasks of one may be claimed; infinite without a limit. */
  room(resolver: string): number;
  /** Tasks of the resolver may not be claimed now: the lane is notified when they may. */
  wait(resolver: string): void;
}

/**
 * The tasks a lane owner has claimed and not started. Its size follows the lane's throughput: large enough that a claim
 * serves many tasks, small enough that few tasks wait here instead of in the store.
 */
export class Window {
  readonly #clock: Clock;
  #tasks: ClaimedTask[] = [];
  readonly #prefetch: (typeof PREFETCH)["alone"];
  #concurrency: number;
  #target: number;
  #filledAt = Number.NEGATIVE_INFINITY;
  #requested = 0;
  /** The last claim returned fewer tasks than requested. */
  #wasShort = false;
  /** Resolvers of tasks in the window that had no room when last asked. */
  readonly #blocked = new Set<string>();
  /** Its tasks are the most promising of a crawl with a goal: the next pages may find better ones. */
  #isBestFirst = false;
  /** Resolvers of queue items seen here; a claim brings no more tasks of a limited one than may start. */
  readonly #seen = new Set<string>();
  /** Resolvers with tasks that wait for their limit in the store. They stay unclaimed. */
  readonly #held = new Set<string>();
  /** The store has nothing more that is ready, except for these full resolvers; null: it may have. */
  #dry: readonly string[] | null = null;

  constructor(clock: Clock, concurrency: number, prefetch = PREFETCH.alone) {
    this.#clock = clock;
    this.#prefetch = prefetch;
    this.#concurrency = concurrency;
    this.#target = concurrency * 2;
  }

  get size(): number {
    return this.#tasks.length;
  }

  setConcurrency(concurrency: number): void {
    this.#concurrency = concurrency;
    this.#target = Math.max(this.#target, concurrency * 2);
  }

  /**
   * How many more to claim; 0 while the window is well filled. Tasks that wait for their resolver do not count. `soon` is
   * how many tasks could start within about a second.
   */
  wanted(soon = Number.POSITIVE_INFINITY): number {
    // While those resolvers are full, a claim would return nothing.
    if (this.#dry?.every((resolver) => this.#isFull(resolver)) === true) return 0;
    const usable = this.#blocked.size === 0 ? this.#tasks.length : this.#usable();
    // The store returned less than requested, so others want tasks as well: claim only what can start.
    const room = (this.#wasShort || this.#isBestFirst ? Math.min(soon, this.#concurrency) : soon) - usable;
    if (usable > this.#target / 4 || room <= 0) return 0;
    const lasted = this.#clock.monotonic() - this.#filledAt;
    // A window that was never full says nothing about the throughput.
    if (lasted < this.#prefetch.tooShortMs && !this.#wasShort)
      this.#target = Math.min(
        MAX_TARGET,
        this.#target * (lasted < this.#prefetch.tooShortMs / 4 ? this.#prefetch.initialGrowth : 2),
      );
    else if (lasted > this.#prefetch.tooLongMs)
      this.#target = Math.max(this.#concurrency * 2, Math.floor(this.#target / 2));
    this.#requested = Math.min(this.#target - usable, room);
    return this.#requested;
  }

  #isFull(resolver: string): boolean {
    return this.#blocked.has(resolver) || this.#held.has(resolver);
  }

  /** Nothing can be claimed before a resolver has room. */
  get waitsForResolvers(): boolean {
    const dry = this.#dry;
    return dry !== null && dry.length > 0 && dry.every((resolver) => this.#isFull(resolver));
  }

  #usable(): number {
    return this.#tasks.filter((task) => task.resolver === null || !this.#blocked.has(task.resolver)).length;
  }

  /** Releases resolvers that have room again, and waits for the others. */
  seekRoom({ room, wait }: ResolverRoom): void {
    for (const resolver of this.#held)
      if (room(resolver) > this.#countOf(resolver)) this.#held.delete(resolver);
      else wait(resolver);
  }

  /** Waits for the full resolvers; true: one has room by now. */
  awaitRoom({ room, wait }: ResolverRoom): boolean {
    let has = false;
    for (const resolver of this.#held)
      if (room(resolver) > this.#countOf(resolver)) has = true;
      else wait(resolver);
    return has;
  }

  /**
   * Which resolvers the next claim leaves out, and how many tasks it may bring of the others; null: any number. `free` is
   * how many tasks the lane can start now: no more are claimed of limited resolvers.
   */
  claimRules(
    { room }: Pick<ResolverRoom, "room">,
    free: number,
  ): { withoutResolvers: string[]; resolverRoom: Record<string, number | null>; limitedRoom: number } {
    const withoutResolvers = [...new Set([...this.#blocked, ...this.#held])];
    const rooms: [string, number | null][] = [];
    let waiting = 0;
    for (const resolver of this.#seen) {
      const most = room(resolver);
      const count = this.#countOf(resolver);
      rooms.push([resolver, Number.isFinite(most) ? Math.max(0, most - count) : null]);
      if (Number.isFinite(most)) waiting += count;
    }
    return { withoutResolvers, resolverRoom: Object.fromEntries(rooms), limitedRoom: Math.max(0, free - waiting) };
  }

  #countOf(resolver: string): number {
    return this.#tasks.reduce((sum, task) => sum + (task.resolver === resolver ? 1 : 0), 0);
  }

  /** The result of a claim; `more`: the store has more claimable tasks; `limited`: resolvers with more tasks. */
  add(tasks: readonly ClaimedTask[], more = true, limited: readonly string[] = []): void {
    for (const { resolver, runKind } of tasks) if (resolver !== null && runKind === "queue") this.#seen.add(resolver);
    for (const resolver of limited) {
      this.#seen.add(resolver);
      this.#held.add(resolver);
    }
    this.#dry = tasks.length === 0 || !more ? [...new Set([...this.#blocked, ...this.#held])] : null;
    if (tasks.length > 0)
      this.#isBestFirst = tasks.every((task) => task.runKind === "crawl" && scoreOfPriority(task.priority) !== null);
    this.#filledAt = this.#clock.monotonic();
    this.#wasShort = tasks.length < this.#requested;
    this.#tasks.push(...tasks);
  }

  /** Something may have become ready in the store. */
  mayHaveMore(): void {
    this.#dry = null;
  }

  /** Nothing ready was left in the store. */
  get isDry(): boolean {
    return this.#dry?.length === 0;
  }

  /** Nothing claimable was left in the store. */
  get wasEmptied(): boolean {
    return this.#dry !== null;
  }

  /**
   * The first task whose resolver has room; full resolvers are skipped until `unblock`. With `fresh`, a task that has
   * not failed yet comes first.
   */
  take(mayUse: (resolver: string) => boolean, { fresh = false } = {}): ClaimedTask | null {
    if (fresh) this.#tasks = [...this.#tasks].sort((a, b) => Math.min(a.tries, 1) - Math.min(b.tries, 1));
    for (let index = 0; index < this.#tasks.length; index += 1) {
      const task = this.#tasks[index] as ClaimedTask;
      if (task.resolver !== null) {
        if (this.#blocked.has(task.resolver)) continue;
        if (!mayUse(task.resolver)) {
          this.#blocked.add(task.resolver);
          continue;
        }
      }
      if (index === 0) this.#tasks.shift();
      else this.#tasks.splice(index, 1);
      return task;
    }
    return null;
  }

  takeAll(): ClaimedTask[] {
    const all = this.#tasks;
    this.#tasks = [];
    return all;
  }

  /** The resolver whose limit keeps everything from starting; null: something could start, or there is nothing. */
  get blockedBy(): string | null {
    const [first] = this.#tasks;
    if (first === undefined) return this.waitsForResolvers ? this.#dry![0]! : null;
    const isBlocked = ({ resolver }: ClaimedTask) => resolver !== null && this.#isFull(resolver);
    return this.#tasks.every(isBlocked) ? first.resolver : null;
  }

  unblock(): void {
    this.#blocked.clear();
  }
}
