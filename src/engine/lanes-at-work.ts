import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { Signal } from "../base/signal.ts";
import type { LaneHost, LaneTicket, TicketEnd } from "./port.ts";

export interface AtWorkOptions {
  host: LaneHost;
  clock: Clock;
  log: Log;
  owner: string;
  ttlMs: number;
  leaseHolds: () => boolean;
  /** Whether a lane should yield to another after `forMs`. */
  shouldYield: (lane: string, forMs: number) => boolean;
  /** Whether other processes take lanes that are released now. */
  movesOn: () => boolean;
}

export interface Turn {
  end: TicketEnd;
  /** The lane was offered while at work, perhaps too late to notice. */
  offered: boolean;
}

interface Lane {
  offers: number;
  changed: Signal;
}

/** Delay before a lane whose owner threw is retried. */
const RETRY_MS = 1000;

/** The lanes that one process works on in one term, and the signals to them; used by both engines. */
export class LanesAtWork {
  readonly #options: AtWorkOptions;
  /** In order of start. */
  readonly #lanes = new Map<string, Lane>();
  #controls = 0;
  readonly #drain = new AbortController();
  readonly #hurry = new AbortController();
  readonly #fence = new AbortController();
  readonly #idle: (() => void)[] = [];
  /** Set while held: called when no lane is at work any more. */
  #onDrained: (() => void) | null = null;

  constructor(options: AtWorkOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#lanes.size;
  }

  /** In order of start. */
  names(): Iterable<string> {
    return this.#lanes.keys();
  }

  has(lane: string): boolean {
    return this.#lanes.has(lane);
  }

  /** No lane may begin, temporarily or permanently. */
  get closed(): boolean {
    return this.#onDrained !== null || this.#drain.signal.aborted;
  }

  get draining(): boolean {
    return this.#drain.signal.aborted;
  }

  /** Notifies a working lane of new work; false: the lane is not at work. */
  offer(name: string): boolean {
    const lane = this.#lanes.get(name);
    if (lane === undefined) return false;
    lane.offers += 1;
    lane.changed.raise();
    return true;
  }

  controlChanged(): void {
    this.#controls += 1;
    this.wakeAll();
  }

  /** Wakes every lane to check whether it must end. */
  wakeAll(): void {
    for (const lane of this.#lanes.values()) lane.changed.raise();
  }

  /**
   * Working lanes finish their running tasks and take no more, without a time limit. Calls `onDrained` when all have ended.
   * The engine begins none until `resume`.
   */
  hold(onDrained: () => void): void {
    this.#onDrained = onDrained;
    this.wakeAll();
    if (this.size === 0) onDrained();
  }

  resume(): void {
    this.#onDrained = null;
  }

  /** Working lanes finish, and none begins any more. Resolves when all have ended. */
  drain(): Promise<void> {
    this.#abort(this.#drain);
    return new Promise((resolve) => {
      if (this.size === 0) resolve();
      else this.#idle.push(resolve);
    });
  }

  /** Aborts and requeues running tasks. */
  hurry(): void {
    this.#abort(this.#hurry);
  }

  /** Ownership is gone: everything stops and writes nothing. Resolves when all have ended. */
  fence(): Promise<void> {
    this.#abort(this.#fence);
    return this.drain();
  }

  #abort(controller: AbortController): void {
    controller.abort();
    this.wakeAll();
  }

  /** Passes the lane to the host until its turn ends; calls `ended` first. */
  async work(name: string, ended: (turn: Turn) => void): Promise<void> {
    const { host, clock, log } = this.#options;
    const lane: Lane = { offers: 0, changed: new Signal() };
    this.#lanes.set(name, lane);
    let end: TicketEnd;
    try {
      end = await host.work(this.#ticket(name, lane));
    } catch (error) {
      log.error("a lane's owner failed; retrying", { lane: name, error: messageOf(error) });
      end = { more: false, wakeAt: clock.now() + RETRY_MS };
    }
    this.#lanes.delete(name);
    ended({ end, offered: lane.offers > 0 });
    if (this.size > 0) return;
    this.#onDrained?.();
    if (this.draining) for (const resolve of this.#idle.splice(0)) resolve();
  }

  #ticket(name: string, lane: Lane): LaneTicket {
    const { clock, owner, ttlMs, leaseHolds, shouldYield, movesOn } = this.#options;
    const since = clock.monotonic();
    return {
      lane: name,
      owner,
      ttlMs,
      changed: lane.changed,
      drain: this.#drain.signal,
      hurry: this.#hurry.signal,
      fence: this.#fence.signal,
      leaseHolds,
      yieldWanted: () => this.#onDrained !== null || shouldYield(name, clock.monotonic() - since),
      movesOn,
      offers: () => lane.offers,
      controls: () => this.#controls,
    };
  }
}
