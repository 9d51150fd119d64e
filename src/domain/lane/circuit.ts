/**
 * The circuit breaker of a site that is down: after `failures` different pages failed with no success in between, the site
 * rests for the cool-down, then one probe is let through; its success closes the breaker, its failure opens it again. A few
 * broken pages are not a site that is down: retries of a page count for nothing, and a site that has answered many pages in
 * the last minutes must fail as many before it rests.
 */
export interface BreakerRule {
  failures: number;
  cooldownMs: number;
}

export interface Breaker {
  /** Different pages that failed since the last success. */
  failures: number;
  /** Which pages those are, by short hashes of their addresses. */
  pages: readonly string[];
  /** Wall time until which nothing is sent; null when closed. */
  openUntil: number | null;
  /** Probes that failed since it first opened. */
  failedProbes: number;
}

/** What is known of a page that failed, and of its site. */
export interface FailedPage {
  /** A short hash of its address; null: each failure is one of another page. */
  page: string | null;
  isRetry: boolean;
  /** How many pages the site has answered in the last minutes. */
  answered: number;
}

/** Probes that may fail before the waiting tasks of an open breaker are given up. */
export const FAILED_PROBES_BEFORE_GIVING_UP = 3;

/** However many pages a site has answered of late, after so many different failures in a row it is down. */
const DOWN_IN_ANY_CASE = 50;

type BreakerPhase = "closed" | "open" | "half_open";

export const CLOSED_BREAKER: Breaker = { failures: 0, pages: [], openUntil: null, failedProbes: 0 };

const UNKNOWN: FailedPage = { page: null, isRetry: false, answered: 0 };

export function breakerPhase(breaker: Breaker, now: number): BreakerPhase {
  if (breaker.openUntil === null) return "closed";
  return now < breaker.openUntil ? "open" : "half_open";
}

export function breakerAfterSuccess(breaker: Breaker): Breaker {
  return breaker.failures === 0 && breaker.openUntil === null ? breaker : CLOSED_BREAKER;
}

/** Gives the same object when nothing changes. */
export function breakerAfterFailure(
  breaker: Breaker,
  rule: BreakerRule,
  now: number,
  failed: FailedPage = UNKNOWN,
): Breaker {
  const phase = breakerPhase(breaker, now);
  const counted = count(breaker, failed);
  // Requests that were already under way when it opened do not push the reopening further away.
  if (phase === "open") return counted;
  if (phase === "half_open")
    return { ...counted, openUntil: now + rule.cooldownMs, failedProbes: breaker.failedProbes + 1 };
  const limit = Math.max(rule.failures, Math.min(failed.answered, DOWN_IN_ANY_CASE));
  if (counted === breaker || counted.failures < limit) return counted;
  return { ...counted, openUntil: now + rule.cooldownMs, failedProbes: 0 };
}

function count(breaker: Breaker, { page, isRetry }: FailedPage): Breaker {
  if (isRetry || (page !== null && breaker.pages.includes(page))) return breaker;
  const pages = page === null || breaker.pages.length >= DOWN_IN_ANY_CASE ? breaker.pages : [...breaker.pages, page];
  return { ...breaker, failures: breaker.failures + 1, pages };
}
