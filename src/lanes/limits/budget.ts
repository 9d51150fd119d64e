import type { Clock, Timer } from "../../base/clock.ts";
import type { Signal } from "../../base/signal.ts";
import { resolverKey } from "../../domain/lane/lane.ts";
import { WaitingLine } from "./waiting-line.ts";

/** This process's view of one concurrency limit shared by several lanes. */
export interface Budget {
  resolver: string;
  key: string;
  /** Permits this process has acquired from the store. */
  held: number;
  used: number;
  /** The current cap, below `held` after it was lowered; null: none. */
  cap: number | null;
  /** Maximum while other processes want permits. */
  share: number;
  /** Others hold all permits, and the store has recorded our request. */
  requested: boolean;
  acquiring: boolean;
  /** A reply of the store was lost: `held` is unknown until it is read again. */
  heldUnknown: boolean;
  /** Fires when the number of contending processes is read again. */
  shareTimer: Timer | null;
  idleTimer: Timer | null;
  /** Fires when the permits left for other lanes are offered again. */
  retryTimer: Timer | null;
  waiting: WaitingLine;
  /** More processes want permits than there are: each uses one for a task or two, then passes it on. */
  contended: boolean;
  /** The store is being asked whether other processes want permits. */
  checkingContention: boolean;
  /** Tasks started since contention was last known. */
  startedInTurn: number;
  /** Until then a process that takes over a lane of ours is expected to ask; monotonic clock. */
  expectedUntil: number;
  /** Permits in use per lane. */
  usedByLane: Map<Signal, number>;
  /** Lanes that got no permit, and when they last asked. */
  requestedAt: Map<Signal, number>;
}

export function newBudget(resolver: string, cap: number | null, clock: Clock): Budget {
  return {
    resolver,
    key: resolverKey(resolver),
    held: 0,
    used: 0,
    cap,
    share: Number.POSITIVE_INFINITY,
    requested: false,
    acquiring: false,
    heldUnknown: false,
    shareTimer: null,
    idleTimer: null,
    retryTimer: null,
    waiting: new WaitingLine(clock),
    contended: false,
    checkingContention: false,
    startedInTurn: 0,
    expectedUntil: Number.NEGATIVE_INFINITY,
    usedByLane: new Map(),
    requestedAt: new Map(),
  };
}

/** A process that takes over a lane asks for the lane's permits within this time; usually within a tenth of it. */
const EXPECTED_MS = 1000;

/** A lane moves to another process: until that process asks, the remaining lanes have one more turn. */
export function expectOther(budget: Budget, clock: Clock): void {
  budget.expectedUntil = clock.monotonic() + EXPECTED_MS;
  budget.startedInTurn = Math.max(budget.used, 1);
}
