import type { Service } from "../base/service.ts";
import type { Signal } from "../base/signal.ts";

/**
 * The engine says who owns which lane, and carries no data: a lost ticket is issued again by the reconciler, a
 * doubled one is stopped by the lane's epoch in the store.
 */
export interface Engine extends Service {
  readonly role: EngineRole;
  /** Lanes have work; telling twice changes nothing. */
  offer(lanes: Iterable<string>): void;
  /** Limits, pauses or run states changed: owners look at once. */
  controlChanged(): void;
  /** Finishes what runs, takes nothing more and lets others be the engine, until `resume`. */
  drain(): void;
  resume(): void;
}

/** `drained`: somebody asked it to take no work, and it has none left. */
export type EngineRole = "engine" | "standby" | "drained" | "stopped";

/** The right to try for one lane, for a while. */
export interface LaneTicket {
  readonly lane: string;
  /** The name under which the lane is to be owned. */
  readonly owner: string;
  readonly ttlMs: number;
  /** Raised when the lane got work, limits changed, or one of the signals below was aborted. */
  readonly changed: Signal;
  /** Take no more; finish what runs. */
  readonly drain: AbortSignal;
  /** Stop what runs and hand it back. */
  readonly hurry: AbortSignal;
  /** The lane is not ours any more: stop, and write nothing. */
  readonly fence: AbortSignal;
  /** By our own clock nobody else can own the lane yet. Nothing may be started once this is false. */
  leaseHolds(): boolean;
  /** Others wait for a turn, and this one has had its time. */
  yieldWanted(): boolean;
  /** Grows with every offer since the ticket was given. */
  offers(): number;
  /** Grows with every change of limits, pauses or run states. */
  controls(): number;
}

export interface TicketEnd {
  /** Ready work is left. */
  more: boolean;
  /** Wall time at which something becomes ready. */
  wakeAt: number | null;
}

/** Who does the work of a lane. */
export interface LaneHost {
  work(ticket: LaneTicket): Promise<TicketEnd>;
}
