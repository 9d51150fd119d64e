/**
 * The circuit breaker of a site: after `failures` failures in a row the site rests for the cool-down, then one
 * probe is let through; its success closes the breaker, its failure opens it again.
 */
export interface BreakerRule {
  failures: number;
  cooldownMs: number;
}

export interface Breaker {
  /** Failures in a row. */
  failures: number;
  /** Wall time until which nothing is sent; null when closed. */
  openUntil: number | null;
  /** Probes that failed since it first opened. */
  failedProbes: number;
}

/** Probes that may fail before the waiting tasks of an open breaker are given up. */
export const FAILED_PROBES_BEFORE_GIVING_UP = 3;

export type BreakerPhase = "closed" | "open" | "half_open";

export const CLOSED_BREAKER: Breaker = { failures: 0, openUntil: null, failedProbes: 0 };

export function breakerPhase(breaker: Breaker, now: number): BreakerPhase {
  if (breaker.openUntil === null) return "closed";
  return now < breaker.openUntil ? "open" : "half_open";
}

export function breakerAfterSuccess(breaker: Breaker): Breaker {
  return breaker.failures === 0 && breaker.openUntil === null ? breaker : CLOSED_BREAKER;
}

export function breakerAfterFailure(breaker: Breaker, rule: BreakerRule, now: number): Breaker {
  const failures = breaker.failures + 1;
  const phase = breakerPhase(breaker, now);
  // Requests that were already under way when it opened do not push the reopening further away.
  if (phase === "open") return { ...breaker, failures };
  if (phase === "half_open") {
    return { failures, openUntil: now + rule.cooldownMs, failedProbes: breaker.failedProbes + 1 };
  }
  if (failures < rule.failures) return { ...breaker, failures };
  return { failures, openUntil: now + rule.cooldownMs, failedProbes: 0 };
}
