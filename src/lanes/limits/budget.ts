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
  /** Permits for tasks that are being claimed: they must not go to another process before the tasks start. */
  promised: number;
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
    promised: 0,
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

/** Promises permits for tasks that are being claimed, by resolver; the returned function ends the promise. */
export function promisePermits(
  budgets: ReadonlyMap<string, Budget>,
  rooms: Readonly<Record<string, number | null>>,
): () => void {
  const promises = Object.entries(rooms).flatMap(([resolver, room]) => {
    const budget = budgets.get(resolver);
    return budget === undefined || budget.cap === null || room === null || room === 0 ? [] : [{ budget, room }];
  });
  for (const { budget, room } of promises) budget.promised += room;
  return () => {
    for (const { budget, room } of promises) budget.promised -= room;
  };
}

/**
 * A slow site would end up with all permits: while other lanes want some, none gets more than its share. Requests from
 * before `since` no longer count.
 */
export function fairShare({ usedByLane, requestedAt }: Budget, lane: Signal, most: number, since: number): number {
  for (const [other, at] of requestedAt) if (at < since) requestedAt.delete(other);
  const others = requestedAt.size - (requestedAt.has(lane) ? 1 : 0);
  if (others === 0) return most;
  const contenders = new Set([lane, ...usedByLane.keys(), ...requestedAt.keys()]).size;
  return Math.max(1, Math.floor(most / contenders));
}
