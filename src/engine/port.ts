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
  /** By our own clock no other process can be the one that does what is to be done once. */
  leads(): boolean;
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
  /** Its process has more lanes than its share: another process takes this one when it is given back. */
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
  /** It could begin nothing now, whatever it is given. */
  readonly resting: boolean;
  /** Raises `changed` whenever that may have changed, until what it gives is called. */
  watchRest(changed: Signal): () => void;
}

/** What is due by the clock. When that is stands in the store; an engine only sees to it that somebody looks then. */
export interface Timetable {
  /** Does what is due, in whatever process, and gives when something is due next; null: nothing ever is. */
  keep(): Promise<number | null>;
  nextAt(): Promise<number | null>;
}

/** Pages that show what an engine has in its books: to be looked at, and not to be changed. */
export interface Board {
  /** What to answer whoever opens an address, which begins behind the place that the board has; null: nothing is there. */
  open(path: string, query: Readonly<Record<string, unknown>>): Promise<BoardAnswer | null>;
  close(): Promise<void>;
}

export interface BoardAnswer {
  status: number;
  /** The type of its content. */
  type: string;
  body: string | Buffer;
}
