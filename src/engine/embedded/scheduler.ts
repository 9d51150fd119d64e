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
  arrivedMs: number;
  arrival: number;
  /** Null: not read yet, counts as 0. */
  priority: number | null;
}

interface SchedulerOptions extends Omit<AtWorkOptions, "shouldYield" | "movesOn"> {
  /** Maximum number of lanes at work. */
  maxActive: number;
  /** How long a lane may work while others wait for a turn. */
  sliceMs: number;
  /** Provides lane priorities when not all lanes can begin. */
  store: Pick<OwnerStore, "lanePriorities">;
}

const BATCH_SIZE = 500;

/**
 * Passes lanes to the host in order of arrival and priority. A lane that is offered while at work is notified; a lane
 * that ends with later work gets a timer. One scheduler serves one term of the engine.
 *
 * Workflow steps may take hours: they get at most half of the lanes at work, so that many of them do not keep sites
 * waiting.
 */
export class LaneScheduler {
  readonly #options: SchedulerOptions;
  readonly #atWork: LanesAtWork;
  readonly #lanes = new Map<string, Lane>();
  readonly #sites = new LaneQueue();
  readonly #steps = new LaneQueue();
  #arrivals = 0;
  /** Queued lanes whose priority has not been read. */
  readonly #unprioritized = new Set<string>();
  readonly #urgency: Urgency;
  #readingPriorities = false;
  #activeSteps = 0;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#urgency = new Urgency(options);
    this.#atWork = new LanesAtWork({
      ...options,
      movesOn: () => false,
      shouldYield: (name, forMs) => forMs >= options.sliceMs && this.#othersWait(stepOfLane(name) !== null),
    });
  }

  offer(name: string): void {
    this.offerAll([name]);
  }

  /** Lanes that are offered together begin in order of priority. */
  offerAll(names: Iterable<string>): void {
    if (this.#atWork.draining) return;
    for (const name of names) {
      const lane = this.#lane(name);
      if (lane.state === "active") {
        this.#atWork.offer(name);
        continue;
      }
      if (lane.state === "waiting") this.#enqueue(name, lane);
      // New work may raise the priority of a queued lane.
      if (!lane.isStep) this.#unprioritized.add(name);
    }
    if (this.#sites.length + this.#steps.length <= this.#options.maxActive - this.#atWork.size) this.#pump();
    for (const name of this.#unprioritized)
      if (this.#lanes.get(name)?.state !== "queued") this.#unprioritized.delete(name);
    if (this.#unprioritized.size === 0) this.#pump();
    else if (!this.#readingPriorities) void this.#readPriorities();
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
   * No lane begins until `resume`; working ones finish their running tasks and take no more, without a time limit. Calls
   * `onDrained` when all have ended.
   */
  hold(onDrained: () => void): void {
    this.#atWork.hold(onDrained);
  }

  resume(): void {
    this.#atWork.resume();
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
      lane = {
        state: "waiting",
        isStep: stepOfLane(name) !== null,
        timer: null,
        arrivedMs: 0,
        arrival: 0,
        priority: null,
      };
      this.#lanes.set(name, lane);
    }
    return lane;
  }

  #enqueue(name: string, lane: Lane): void {
    lane.timer?.cancel();
    lane.timer = null;
    lane.state = "queued";
    lane.arrivedMs = this.#options.clock.monotonic();
    lane.arrival = this.#arrivals += 1;
    lane.priority = null;
    (lane.isStep ? this.#steps : this.#sites).add(name, queueOrder(lane.arrivedMs, 0), lane.arrival);
  }

  async #readPriorities(): Promise<void> {
    this.#readingPriorities = true;
    while (this.#unprioritized.size > 0 && !this.#atWork.draining) {
      const all = [...this.#unprioritized];
      this.#unprioritized.clear();
      for (let first = 0; first < all.length; first += BATCH_SIZE) {
        const names = all.slice(first, first + BATCH_SIZE);
        const priorities = await this.#urgency.of(names);
        for (const [n, priority] of priorities.entries()) this.#setPriority(names[n] as string, priority);
      }
      this.#pump();
    }
    this.#readingPriorities = false;
  }

  /** Only moves forward: the urgent work of a waiting lane does not go away. */
  #setPriority(name: string, priority: number): void {
    const lane = this.#lanes.get(name);
    if (lane?.state !== "queued" || priority <= (lane.priority ?? Number.NEGATIVE_INFINITY)) return;
    const [from, to] = [queueOrder(lane.arrivedMs, lane.priority ?? 0), queueOrder(lane.arrivedMs, priority)];
    lane.priority = priority;
    if (from !== to) this.#sites.move(from, to, lane.arrival);
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
    const step = this.#mayStartStep() ? this.#steps.first : undefined;
    const isStep = step !== undefined && (site === undefined || isBefore(step, site));
    return (isStep ? this.#steps : this.#sites).shift();
  }

  #mayStartStep(): boolean {
    return this.#activeSteps < Math.max(1, Math.floor(this.#options.maxActive / 2));
  }

  /** Another lane could begin if a lane of this kind ended. */
  #othersWait(isStep: boolean): boolean {
    return this.#sites.length > 0 || (this.#steps.length > 0 && (isStep || this.#mayStartStep()));
  }

  #ended(name: string, lane: Lane, { end, offered }: Turn): void {
    if (lane.isStep) this.#activeSteps -= 1;
    lane.state = "waiting";
    if (this.#atWork.draining) return;
    if (end.more || offered) {
      // Requeued by a timer, so that a lane that makes no progress does not block the event loop. No other lane begins in
      // between: this one may be more urgent than those that wait.
      lane.timer = this.#options.clock.after(0, () => this.offer(name));
      return;
    }
    if (end.wakeAt !== null) this.offerAt(name, end.wakeAt);
    else this.#lanes.delete(name);
    this.#pump();
  }
}
