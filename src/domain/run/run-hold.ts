import type { RunState } from "./states.ts";

/** Why a run that is not paused is held: another event has to happen first. */
const HOLD_REASONS = ["proxies", "previous_run", "turn", "data_quality"] as const;
export type HoldReason = (typeof HOLD_REASONS)[number];

export interface RunHold {
  reason: HoldReason;
  since: number;
  /** When something is decided at the latest; null: not a matter of time. */
  until: number | null;
  /** A sentence for people: what it waits for. */
  message: string;
  /** Set while the run is paused or waits for a person: the timeout is suspended. */
  stopped?: { at: number; until: number };
  /** How the run ends, unless its records turn out degraded: nothing of it is left to do. */
  end?: RunEnd;
}

export interface RunEnd {
  status: RunState;
  message: string;
  meta: unknown;
}

/** The timeout of a hold is suspended while the run is paused or waits for a person. */
export function holdOf(hold: RunHold, isStopped: boolean, now: number): RunHold {
  const { stopped, ...rest } = hold;
  if (isStopped) return rest.until === null ? hold : { ...rest, until: null, stopped: { at: now, until: rest.until } };
  if (stopped === undefined) return hold;
  const passed = Math.max(0, now - stopped.at);
  return { ...rest, since: rest.since + passed, until: stopped.until + passed };
}

export interface ProxiesThere {
  usable: number;
  total: number;
  disabled: number;
}

/** A run that fails if its records are degraded ends only after they were compared. */
export function waitForComparison(end: RunEnd, now: number): RunHold {
  return {
    reason: "data_quality",
    since: now,
    until: null,
    message: "Comparing the records with earlier runs",
    end,
  };
}

/** A crawl that was held has released its slot, and continues when it gets one again. */
export function waitForTurn(now: number): RunHold {
  return { reason: "turn", since: now, until: null, message: "Waiting for a crawl slot" };
}

/** A run that needs proxies waits until there are enough of them, or until its time to wait is over. */
export function waitForProxies(
  there: ProxiesThere,
  atLeast: number,
  { now, waitMs }: { now: number; waitMs: number },
): RunHold {
  return {
    reason: "proxies",
    since: now,
    until: now + waitMs,
    message: `Waiting for proxies: ${wanting(there, atLeast)}`,
  };
}

function wanting({ usable, total, disabled }: ProxiesThere, atLeast: number): string {
  const inUse = total - disabled;
  if (total === 0) return "there are none; import some (POST /proxies, or orb proxies import FILE)";
  if (inUse === 0) return "all are disabled; enable some (orb proxies enable ID)";
  const have = usable === 0 ? "none is usable" : `${usable} usable, at least ${atLeast} required`;
  const only = inUse < atLeast ? `, and the pool has only ${inUse}` : "";
  const others = usable === 0 ? "they" : "the others";
  return `${have}${only}${usable < inUse ? `; ${others} are checked again, after a pause if they failed` : ""}`;
}

/** A run that is held for want of proxies. */
export interface HeldRun {
  id: string;
  hold: RunHold;
  /**
   * How often it has been held since something of it last ended, this time included; 0: it has not begun, and waits for
   * as many proxies as are wanted to begin with.
   */
  waits: number;
}

export interface ShortageRules {
  /** Usable proxies that a run which needs some waits for. */
  atLeast: number;
  /** What becomes of a run that has waited so long. */
  shortage: "use_fewer" | "fail";
}

export type HoldEnd = "waits" | "goes_on" | "goes_on_with_fewer" | "fails";

/** The state of the last proxy is written shortly after the run is held. */
const WRITTEN_AFTER_MS = 3_000;
const LONGEST_PAUSE_MS = 60_000;

/** Decides about a run that waits for proxies. */
export function afterWaiting(
  { hold, waits }: HeldRun,
  there: ProxiesThere,
  rules: ShortageRules,
  now: number,
): HoldEnd {
  const { usable } = there;
  const isOver = (hold.until ?? now) <= now;
  if (waits > 0) {
    // Or the clock was set back.
    const waited = Math.abs(now - hold.since);
    // Usable proxies did not help the last time: back off, and not forever.
    const pause = Math.min(LONGEST_PAUSE_MS, WRITTEN_AFTER_MS * 2 ** (waits - 1));
    if (usable > 0 && waited >= pause && (waits === 1 || !isOver)) return "goes_on";
    return isOver && waited >= WRITTEN_AFTER_MS ? "fails" : "waits";
  }
  if (usable >= leastOf(rules)) return "goes_on";
  // No further proxy can become usable.
  const isAll = usable === there.total - there.disabled;
  if (rules.shortage === "use_fewer" && usable > 0 && (isOver || isAll)) return "goes_on_with_fewer";
  return isOver ? "fails" : "waits";
}

/** At least one proxy, even without a configured minimum. */
export function leastOf({ atLeast }: Pick<ShortageRules, "atLeast">): number {
  return Math.max(1, atLeast);
}
