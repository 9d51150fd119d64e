import type { Timer } from "../../base/clock.ts";
import { queueOrder } from "../../domain/lane/queue-order.ts";
import { stepOfLane } from "../../domain/workflow/definition.ts";
import type { LaneWork, OwnerStore } from "../../store/ports/owner-port.ts";
import { type AtWorkOptions, LanesAtWork, type Turn } from "../lanes-at-work.ts";
import { Urgency } from "../urgency.ts";
import { isBefore, LaneQueue } from "./lane-queue.ts";

interface Lane {
  state: "waiting" | "queued" | "active";
  isStep: boolean;
  timer: Timer | null;
  /** When a queued lane arrived, and its number in the order of arrival. */
  cameMs: number;
  came: number;
  /** Null: not read yet; it counts as 0 until then. */
  priority: number | null;
}

interface SchedulerOptions extends Omit<AtWorkOptions, "shouldYield" | "movesOn"> {
  /** Lanes worked on at the same time. */
  maxActive: number;
  /** How long a lane may go on while others wait for a turn. */
  sliceMs: number;
  /** Asked how urgent the work of lanes is, when not all of them can begin. */
  store: Pick<OwnerStore, "lanePriorities">;
}

const MOST_ASKED_AT_ONCE = 500;

/**
 * Passes lanes to the host in the order of arrival and priority. A lane that is offered while it works is notified; a
 * lane that ends with later work gets a timer. One scheduler serves one term of the engine.
 *
 * Steps of workflows may take hours, and end when they like: at most half of the lanes at work are theirs, so that a long
 * list of them does not keep sites waiting.
 */
export class LaneScheduler {
  readonly #options: SchedulerOptions;
  readonly #atWork: LanesAtWork;
  readonly #lanes = new Map<string, Lane>();
  readonly #sites = new LaneQueue();
  readonly #steps = new LaneQueue();
  #came = 0;
  /** Queued lanes whose priority is still to be read. */
  readonly #unasked = new Set<string>();
  readonly #urgency: Urgency;
  #asking = false;
  #activeSteps = 0;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#urgency = new Urgency(options);
    this.#atWork = new LanesAtWork({
      ...options,
      movesOn: () => false,
      shouldYield: (name, forMs) => forMs >= options.sliceMs && this.#isWaitedFor(stepOfLane(name) !== null),
    });
  }

  offer(name: string): void {
    this.offerAll([name]);
  }

  /** Those that are offered together begin in the order of their priority. */
  offerAll(names: Iterable<string>): void {
    if (this.#atWork.draining) return;
    for (const name of names) {
      const lane = this.#lane(name);
      if (lane.state === "active") {
        this.#atWork.offer(name);
        continue;
      }
      if (lane.state === "waiting") this.#enqueue(name, lane);
      // New work of a queued lane may be more urgent than what it had.
      if (!lane.isStep) this.#unasked.add(name);
    }
    if (this.#sites.length + this.#steps.length <= this.#options.maxActive - this.#atWork.size) this.#pump();
    for (const name of this.#unasked) if (this.#lanes.get(name)?.state !== "queued") this.#unasked.delete(name);
    if (this.#unasked.size === 0) this.#pump();
    else if (!this.#asking) void this.#ask();
  }

  offerWork(work: readonly LaneWork[]): void {
    const now = this.#options.clock.now();
    this.offerAll(work.filter(({ readyAt }) => readyAt <= now).map(({ lane }) => lane));
    for (const { lane, readyAt } of work) if (readyAt > now) this.offerAt(lane, readyAt);
  }

  offerAt(name: string, at: number): void {
    const delay = at - this.#options.clock.now();
    if (delay <= 0) return this.offer(name);
    const lane = this.#lane(name);
    if (lane.state !== "waiting" || this.#atWork.draining) return;
    lane.timer?.cancel();
    lane.timer = this.#options.clock.after(delay, () => this.offer(name));
  }

  controlChanged(): void {
    this.#atWork.controlChanged();
  }

  /**
   * No lane begins until `goOn`; working ones finish their running tasks and take no more, without a time limit. Calls
   * `onRest` when all have.
   */
  hold(onRest: () => void): void {
    this.#atWork.hold(onRest);
  }

  goOn(): void {
    this.#atWork.goOn();
    this.#pump();
  }

  /** No lane begins any more; working ones finish. Resolves when all have ended. */
  drain(): Promise<void> {
    this.#cancelTimers();
    return this.#atWork.drain();
  }

  /** Aborts and requeues running tasks. */
  hurry(): void {
    this.#atWork.hurry();
  }

  /** Ownership is gone: everything stops and writes nothing. Resolves when all have ended. */
  fence(): Promise<void> {
    this.#cancelTimers();
    return this.#atWork.fence();
  }

  #cancelTimers(): void {
    for (const lane of this.#lanes.values()) lane.timer?.cancel();
  }

  #lane(name: string): Lane {
    let lane = this.#lanes.get(name);
    if (lane === undefined) {
      lane = { state: "waiting", isStep: stepOfLane(name) !== null, timer: null, cameMs: 0, came: 0, priority: null };
      this.#lanes.set(name, lane);
    }
    return lane;
  }

  #enqueue(name: string, lane: Lane): void {
    lane.timer?.cancel();
    lane.timer = null;
    lane.state = "queued";
    lane.cameMs = this.#options.clock.monotonic();
    lane.came = this.#came += 1;
    lane.priority = null;
    (lane.isStep ? this.#steps : this.#sites).add(name, queueOrder(lane.cameMs, 0), lane.came);
  }

  async #ask(): Promise<void> {
    this.#asking = true;
    while (this.#unasked.size > 0 && !this.#atWork.draining) {
      const all = [...this.#unasked];
      this.#unasked.clear();
      for (let first = 0; first < all.length; first += MOST_ASKED_AT_ONCE) {
        const names = all.slice(first, first + MOST_ASKED_AT_ONCE);
        const priorities = await this.#urgency.of(names);
        for (const [n, priority] of priorities.entries()) this.#moveInLine(names[n] as string, priority);
      }
      this.#pump();
    }
    this.#asking = false;
  }

  /** Forward only, once it is known: nothing that made it urgent is done while it waits. */
  #moveInLine(name: string, priority: number): void {
    const lane = this.#lanes.get(name);
    if (lane?.state !== "queued" || priority <= (lane.priority ?? Number.NEGATIVE_INFINITY)) return;
    const [from, to] = [queueOrder(lane.cameMs, lane.priority ?? 0), queueOrder(lane.cameMs, priority)];
    lane.priority = priority;
    if (from !== to) this.#sites.move(from, to, lane.came);
  }

  #pump(): void {
    while (this.#atWork.size < this.#options.maxActive && !this.#atWork.closed) {
      const name = this.#next();
      if (name === undefined) return;
      const lane = this.#lanes.get(name) as Lane;
      lane.state = "active";
      if (lane.isStep) this.#activeSteps += 1;
      void this.#atWork.work(name, (turn) => this.#ended(name, lane, turn));
    }
  }

  #next(): string | undefined {
    const site = this.#sites.first;
    const step = this.#stepMayBegin() ? this.#steps.first : undefined;
    const isStep = step !== undefined && (site === undefined || isBefore(step, site));
    return (isStep ? this.#steps : this.#sites).shift();
  }

  #stepMayBegin(): boolean {
    return this.#activeSteps < Math.max(1, Math.floor(this.#options.maxActive / 2));
  }

  /** Somebody could begin when a lane of this sort ends. */
  #isWaitedFor(isStep: boolean): boolean {
    return this.#sites.length > 0 || (this.#steps.length > 0 && (isStep || this.#stepMayBegin()));
  }

  #ended(name: string, lane: Lane, { end, offered }: Turn): void {
    if (lane.isStep) this.#activeSteps -= 1;
    lane.state = "waiting";
    if (this.#atWork.draining) return;
    if (end.more || offered) {
      // It comes back by a timer, so that a lane that cannot go on never keeps everything else from running. Its place is free
      // until then: it may be more urgent than those who wait.
      lane.timer = this.#options.clock.after(0, () => this.offer(name));
      return;
    }
    if (end.wakeAt !== null) this.offerAt(name, end.wakeAt);
    else this.#lanes.delete(name);
    this.#pump();
  }
}
