import type { Clock } from "../base/clock.ts";
import type { ClaimedTask } from "../store/port.ts";

const LARGEST = 256;
/**
 * A window that lasts shorter than this grows; one that lasts longer than the other shrinks. Where many processes write to
 * one database, a claim costs all of them something: there it serves for longer.
 */
export const LASTING = {
  // No faster: whatever comes next waits behind what one run has here.
  alone: { tooShortMs: 100, tooLongMs: 1000, growsAtFirst: 2 },
  shared: { tooShortMs: 1500, tooLongMs: 6000, growsAtFirst: 4 },
};

/**
 * An owner that has to wait longer gives its lane back instead of sitting on it. Where lanes are shared, giving back and
 * taking costs everybody more than sitting does, and whoever wants its place is let in sooner.
 */
export const SITS_MS = { alone: 1000, shared: 30_000 };

/**
 * The tasks a lane owner has claimed and not started. Its size follows the lane's speed: large enough that a claim
 * serves many tasks, small enough that little waits here while others could see it in the store.
 */
export class Window {
  readonly #clock: Clock;
  #tasks: ClaimedTask[] = [];
  readonly #lasting: (typeof LASTING)["alone"];
  #concurrency: number;
  #target: number;
  #filledAt = Number.NEGATIVE_INFINITY;
  #asked = 0;
  /** The last claim brought less than was asked for. */
  #short = false;
  readonly #blocked = new Set<string>();
  /** When last asked, the store had nothing more that is ready, but of these resolvers, which had no room; null: it may have. */
  #dry: readonly string[] | null = null;

  constructor(clock: Clock, concurrency: number, lasting = LASTING.alone) {
    this.#clock = clock;
    this.#lasting = lasting;
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
   * How many more to claim; 0 while the window is well filled. Tasks that wait for their resolver do not count. `soon`
   * is how many could begin within about a second.
   */
  wanted(soon = Number.POSITIVE_INFINITY): number {
    // While those resolvers have no room, the answer would be the same.
    if (this.#dry?.every((resolver) => this.#blocked.has(resolver)) === true) return 0;
    const usable = this.#blocked.size === 0 ? this.#tasks.length : this.#usable();
    // Where more is ready than was given, others want it, too: then only what can begin is asked for.
    const room = (this.#short ? Math.min(soon, this.#concurrency) : soon) - usable;
    if (usable > this.#target / 4 || room <= 0) return 0;
    const lasted = this.#clock.monotonic() - this.#filledAt;
    // A window that was never full says nothing about the speed.
    if (lasted < this.#lasting.tooShortMs && !this.#short)
      this.#target = Math.min(
        LARGEST,
        this.#target * (lasted < this.#lasting.tooShortMs / 4 ? this.#lasting.growsAtFirst : 2),
      );
    else if (lasted > this.#lasting.tooLongMs)
      this.#target = Math.max(this.#concurrency * 2, Math.floor(this.#target / 2));
    this.#asked = Math.min(this.#target - usable, room);
    return this.#asked;
  }

  #usable(): number {
    return this.#tasks.filter((task) => task.resolver === null || !this.#blocked.has(task.resolver)).length;
  }

  /** What a claim brought; `more`: the store has more that could be had. */
  add(tasks: readonly ClaimedTask[], more = true): void {
    this.#dry = tasks.length === 0 || !more ? [...this.#blocked] : null;
    this.#filledAt = this.#clock.monotonic();
    this.#short = tasks.length < this.#asked;
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

  /** Nothing ready was left that could be had. */
  get wasEmptied(): boolean {
    return this.#dry !== null;
  }

  /**
   * The first task whose resolver has room; those that have none are passed over until `unblock`. With `fresh` one that
   * has not failed yet comes first.
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

  blockedResolvers(): string[] {
    return [...this.#blocked];
  }

  /** Every resolver is asked anew. */
  unblock(): void {
    this.#blocked.clear();
  }
}
