import type { Service } from "../base/service.ts";
import type { Signal } from "../base/signal.ts";

/**
 * The engine decides which process works on which lane, and carries no data: the reconciler reissues a lost ticket, and
 * the lane's epoch in the store stops a duplicate.
 */
export interface Engine extends Service {
  readonly role: EngineRole;
  /** Lanes have work. Idempotent. */
  offer(lanes: Iterable<string>): void;
  /** Limits, pauses or run states changed: owners check at once. */
  controlChanged(): void;
  /** Finishes running tasks, takes no more and leaves the engine to others, until `resume`. */
  drain(): void;
  resume(): void;
  /** By our own clock no other process can be the leader. */
  leads(): boolean;
}

/** `drained`: asked to take no work, and none is left. */
export type EngineRole = "engine" | "standby" | "drained" | "stopped";

/** The right to try to own one lane for a while. */
export interface LaneTicket {
  readonly lane: string;
  /** The owner name to take the lane under. */
  readonly owner: string;
  readonly ttlMs: number;
  /** Raised when the lane got work, limits changed, or one of the signals below was aborted. */
  readonly changed: Signal;
  /** Take no more tasks; finish the running ones. */
  readonly drain: AbortSignal;
  /** Abort and requeue running tasks. */
  readonly hurry: AbortSignal;
  /** The lane is no longer ours: stop, and write nothing. */
  readonly fence: AbortSignal;
  /** By our own clock no other process can own the lane yet. Nothing may start once this is false. */
  leaseHolds(): boolean;
  /** Others wait for a turn, and this lane has had its time slice. */
  yieldWanted(): boolean;
  /** This process has more lanes than its share: another one takes this lane when it is released. */
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
  /** The lane could not be taken, or was lost: the lease may be gone. */
  refused?: boolean;
}

/** Works on lanes. */
export interface LaneHost {
  work(ticket: LaneTicket): Promise<TicketEnd>;
  /** It cannot start any task now. */
  readonly resting: boolean;
  /** Raises `changed` whenever `resting` may have changed, until the returned function is called. */
  watchRest(changed: Signal): () => void;
}

/** Scheduled work. The store knows when it is due; an engine only ensures that a process checks then. */
export interface Timetable {
  /** Runs what is due and returns when the next is due; null: never. */
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
  /** Content type. */
  type: string;
  body: string | Buffer;
}
