import type { Clock, Timer } from "../../base/clock.ts";
import type { Signal } from "../../base/signal.ts";
import { resolverKey } from "../../domain/lane/lane.ts";
import { WaitingLine } from "./waiting-line.ts";

/** This process's view of one concurrency limit shared by several lanes. */
export interface Budget {
  resolver: string;
  key: string;
  /** Units this process has borrowed from the store. */
  held: number;
  used: number;
  /** The newest cap, fewer than are held when it was lowered; null: none. */
  cap: number | null;
  /** No more than this while other processes want some. */
  share: number;
  /** Others hold all units, and the store has recorded our request. */
  requested: boolean;
  borrowing: boolean;
  /** An answer of the store was lost: `held` is unknown until the store is asked. */
  unsure: boolean;
  /** Runs until the number of borrowers is checked. */
  shareTimer: Timer | null;
  idleTimer: Timer | null;
  /** Runs until it is checked whether others still want the units left for them. */
  leftTimer: Timer | null;
  waiting: WaitingLine;
  /** Other processes want units, and there are fewer than processes: each has one for a task or two, then the next one. */
  contended: boolean;
  /** It is being asked whether others want some. */
  looking: boolean;
  /** Tasks that were begun since that was last known. */
  inRow: number;
  /** Until then another process is expected to ask, which takes a lane of this one: by the monotonic clock. */
  expectedUntil: number;
  /** What each lane uses of it. */
  shares: Map<Signal, number>;
  /** Lanes that got no unit, and when they last asked. */
  wanted: Map<Signal, number>;
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
    borrowing: false,
    unsure: false,
    shareTimer: null,
    idleTimer: null,
    leftTimer: null,
    waiting: new WaitingLine(clock),
    contended: false,
    looking: false,
    inRow: 0,
    expectedUntil: Number.NEGATIVE_INFINITY,
    shares: new Map(),
    wanted: new Map(),
  };
}

/** A process that takes a lane from this one asks for the lane's units within this time; usually it is a tenth of it. */
const EXPECTED_MS = 1000;

/** A lane whose turn is due moves to another process: until that one asks, the lanes that stay have one more turn. */
export function expectOther(budget: Budget, clock: Clock): void {
  budget.expectedUntil = clock.monotonic() + EXPECTED_MS;
  budget.inRow = Math.max(budget.used, 1);
}
