import type { Clock, Timer } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { messageOf } from "../../base/errors.ts";
import { Signal } from "../../base/signal.ts";
import { stepOfLane } from "../../domain/workflow/definition.ts";
import type { LaneHost, LaneTicket, TicketEnd } from "../port.ts";

interface Lane {
  state: "waiting" | "queued" | "active";
  isStep: boolean;
  offers: number;
  timer: Timer | null;
  changed: Signal;
}

interface Queued {
  name: string;
  at: number;
}

export interface SchedulerOptions {
  host: LaneHost;
  clock: Clock;
  log: Log;
  owner: string;
  ttlMs: number;
  leaseHolds: () => boolean;
  /** Lanes worked on at the same time. */
  maxActive: number;
  /** How long a lane may go on while others wait for a turn. */
  sliceMs: number;
}

/**
 * Hands lanes to the host, in the order in which they were offered. A lane that is offered while it is worked on is
 * told so; a lane that ends with work for later gets a timer. One scheduler serves one term of the engine.
 *
 * Steps of workflows may take hours, and end when they like: at most half of the lanes at work are theirs, so that a long
 * list of them does not keep sites waiting.
 */
export class LaneScheduler {
  readonly #options: SchedulerOptions;
  readonly #lanes = new Map<string, Lane>();
  /** Those in line, by when they came. */
  readonly #sites: Queued[] = [];
  readonly #steps: Queued[] = [];
  #came = 0;
  #active = 0;
  #activeSteps = 0;
  #controls = 0;
  readonly #drain = new AbortController();
  readonly #hurry = new AbortController();
  readonly #fence = new AbortController();
  readonly #idle: (() => void)[] = [];
  /** Told when nothing is at work while no lane may begin. */
  #onRest: (() => void) | null = null;

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  offer(name: string): void {
    if (this.#drain.signal.aborted) return;
    const lane = this.#lane(name);
    if (lane.state === "waiting") {
      this.#enqueue(name, lane);
      this.#pump();
    } else if (lane.state === "active") {
      lane.offers += 1;
      lane.changed.raise();
    }
  }

  offerAt(name: string, at: number): void {
    const delay = at - this.#options.clock.now();
    if (delay <= 0) return this.offer(name);
    const lane = this.#lane(name);
    if (lane.state !== "waiting" || this.#drain.signal.aborted) return;
    lane.timer?.cancel();
    lane.timer = this.#options.clock.after(delay, () => this.offer(name));
  }

  controlChanged(): void {
    this.#controls += 1;
    for (const lane of this.#lanes.values()) if (lane.state === "active") lane.changed.raise();
  }

  /**
   * No lane begins until `goOn`; those at work finish what runs and take no more, however long that takes. `onRest` is
   * told when all of them have.
   */
  hold(onRest: () => void): void {
    this.#onRest = onRest;
    for (const lane of this.#lanes.values()) if (lane.state === "active") lane.changed.raise();
    if (this.#active === 0) onRest();
  }

  goOn(): void {
    this.#onRest = null;
    this.#pump();
  }

  /** No lane is started any more; those at work finish what they have. Resolves when all have ended. */
  drain(): Promise<void> {
    this.#end(this.#drain);
    for (const lane of this.#lanes.values()) lane.timer?.cancel();
    return new Promise((resolve) => {
      if (this.#active === 0) resolve();
      else this.#idle.push(resolve);
    });
  }

  /** What still runs is stopped and handed back. */
  hurry(): void {
    this.#end(this.#hurry);
  }

  /** Ownership is gone: everything stops and writes nothing. Resolves when all have ended. */
  fence(): Promise<void> {
    this.#end(this.#fence);
    return this.drain();
  }

  #end(controller: AbortController): void {
    controller.abort();
    for (const lane of this.#lanes.values()) lane.changed.raise();
  }

  #lane(name: string): Lane {
    let lane = this.#lanes.get(name);
    if (lane === undefined) {
      lane = { state: "waiting", isStep: stepOfLane(name) !== null, offers: 0, timer: null, changed: new Signal() };
      this.#lanes.set(name, lane);
    }
    return lane;
  }

  #enqueue(name: string, lane: Lane): void {
    lane.timer?.cancel();
    lane.timer = null;
    lane.state = "queued";
    (lane.isStep ? this.#steps : this.#sites).push({ name, at: (this.#came += 1) });
  }

  #pump(): void {
    while (this.#active < this.#options.maxActive && this.#onRest === null && !this.#drain.signal.aborted) {
      const name = this.#next();
      if (name === undefined) return;
      const lane = this.#lanes.get(name) as Lane;
      lane.state = "active";
      lane.offers = 0;
      this.#active += 1;
      if (lane.isStep) this.#activeSteps += 1;
      void this.#run(name, lane);
    }
  }

  #next(): string | undefined {
    const [site] = this.#sites;
    const [step] = this.#stepMayBegin() ? this.#steps : [];
    const isStep = step !== undefined && (site === undefined || step.at < site.at);
    return (isStep ? this.#steps : this.#sites).shift()?.name;
  }

  #stepMayBegin(): boolean {
    return this.#activeSteps < Math.max(1, Math.floor(this.#options.maxActive / 2));
  }

  /** Somebody could begin when this lane ends. */
  #isWaitedFor({ isStep }: Lane): boolean {
    return this.#sites.length > 0 || (this.#steps.length > 0 && (isStep || this.#stepMayBegin()));
  }

  async #run(name: string, lane: Lane): Promise<void> {
    const { host, clock, log, owner, ttlMs, sliceMs } = this.#options;
    const since = clock.monotonic();
    const ticket: LaneTicket = {
      lane: name,
      owner,
      ttlMs,
      changed: lane.changed,
      drain: this.#drain.signal,
      hurry: this.#hurry.signal,
      fence: this.#fence.signal,
      leaseHolds: this.#options.leaseHolds,
      yieldWanted: () => this.#onRest !== null || (this.#isWaitedFor(lane) && clock.monotonic() - since >= sliceMs),
      offers: () => lane.offers,
      controls: () => this.#controls,
    };
    const offersBefore = lane.offers;
    let end: TicketEnd;
    try {
      end = await host.work(ticket);
    } catch (error) {
      log.error("a lane's owner failed; it is tried again", { lane: name, error: messageOf(error) });
      end = { more: false, wakeAt: clock.now() + 1000 };
    }
    this.#active -= 1;
    if (lane.isStep) this.#activeSteps -= 1;
    lane.state = "waiting";
    if (!this.#drain.signal.aborted) {
      // An offer that came while the lane was at work may have come too late for it to be seen.
      // It comes back by a timer, so that a lane that cannot go on never keeps everything else from running.
      if (end.more || lane.offers > offersBefore) lane.timer = clock.after(0, () => this.offer(name));
      else if (end.wakeAt !== null) this.offerAt(name, end.wakeAt);
      else this.#lanes.delete(name);
      this.#pump();
      if (this.#active === 0) this.#onRest?.();
    } else if (this.#active === 0) {
      for (const resolve of this.#idle.splice(0)) resolve();
    }
  }
}
