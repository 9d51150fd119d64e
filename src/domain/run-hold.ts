/** What keeps a run from its work although nobody has paused it: something else has to happen first. */
export const HOLD_REASONS = ["proxies", "previous_run", "turn"] as const;
export type HoldReason = (typeof HOLD_REASONS)[number];

export interface RunHold {
  reason: HoldReason;
  since: number;
  /** When something is decided at the latest; null: not a matter of time. */
  until: number | null;
  /** A sentence for people: what it waits for. */
  message: string;
}

/** A crawl that waited for something else has given its place back, and goes on when it has one again. */
export function waitForTurn(now: number): RunHold {
  return { reason: "turn", since: now, until: null, message: "Waiting for its turn among the crawls" };
}

/** A run that needs proxies waits until there are enough of them, or until its time to wait is over. */
export function waitForProxies(
  { usable, atLeast }: { usable: number; atLeast: number },
  { now, waitMs }: { now: number; waitMs: number },
): RunHold {
  const there = usable === 0 ? "none is usable" : `${usable} of at least ${atLeast} are usable`;
  return {
    reason: "proxies",
    since: now,
    until: now + waitMs,
    message: `Waiting for proxies: ${there}; all of them are being checked`,
  };
}
