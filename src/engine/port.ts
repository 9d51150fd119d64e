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
  /** By our own clock no other process can be the leader. */
  leads(): boolean;
}

/** `drained`: it was asked to take no work, and has none left. */
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
  /** By our own clock no other process can own the lane yet. Nothing may start once this is false. */
  leaseHolds(): boolean;
  /** Others wait for a turn, and this one has had its time. */
  yieldWanted(): boolean;
  /** Its process has more lanes than its share: another one takes this lane when it is released. */
  movesOn(): boolean;
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
  /** The lane was not to be had, or was lost: perhaps the lease behind it is gone. */
  refused?: boolean;
}

/** Who does the work of a lane. */
export interface LaneHost {
  work(ticket: LaneTicket): Promise<TicketEnd>;
  /** It could not begin anything now. */
  readonly resting: boolean;
  /** Raises `changed` whenever that may have changed, until the returned function is called. */
  watchRest(changed: Signal): () => void;
}

/** Scheduled work. The store knows when it is due; an engine only ensures that a process checks then. */
export interface Timetable {
  /** Does what is due, in any process, and returns when the next is due; null: never. */
  keep(): Promise<number | null>;
  nextAt(): Promise<number | null>;
}

/** Read-only pages about an engine's queues. */
export interface Board {
  /** The answer for a path below the base path of the board; null: not found. */
  open(path: string, query: Readonly<Record<string, unknown>>): Promise<BoardAnswer | null>;
  close(): Promise<void>;
}

export interface BoardAnswer {
  status: number;
  /** The type of its content. */
  type: string;
  body: string | Buffer;
}
