/**
 * The circuit breaker of a site: after `failures` different pages failed without a success in between, it opens for the
 * cool-down, then lets one probe through; success closes the breaker, failure opens it again. A few broken pages do not
 * mean that the site is down: retries of a page do not count, and a site that has answered many pages in the last minutes
 * must fail as many before the breaker opens.
 */
export interface BreakerRule {
  failures: number;
  cooldownMs: number;
}

export interface Breaker {
  /** Different pages that failed since the last success. */
  failures: number;
  /** Short hashes of those pages. */
  pages: readonly string[];
  /** Wall time until which nothing is sent; null: closed. */
  openUntil: number | null;
  /** Probes that failed since it first opened. */
  failedProbes: number;
}

/** A failed page and its site, as far as the breaker needs to know. */
export interface FailedPage {
  /** Short hash of the page; null: every failure counts as another page. */
  page: string | null;
  isRetry: boolean;
  /** How many pages the site has answered in the last minutes. */
  answered: number;
}

/** Probes that may fail before the waiting tasks of an open breaker are given up. */
export const FAILED_PROBES_BEFORE_GIVING_UP = 3;

/** After this many different failures in a row a site is down, however many pages it answered recently. */
const MAX_FAILURES = 50;

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

/** Returns the same object when nothing changes. */
export function breakerAfterFailure(
  breaker: Breaker,
  rule: BreakerRule,
  now: number,
  failed: FailedPage = UNKNOWN,
): Breaker {
  const phase = breakerPhase(breaker, now);
  const counted = count(breaker, failed);
  // Requests in flight when it opened do not extend the cool-down.
  if (phase === "open") return counted;
  if (phase === "half_open")
    return { ...counted, openUntil: now + rule.cooldownMs, failedProbes: breaker.failedProbes + 1 };
  const limit = Math.max(rule.failures, Math.min(failed.answered, MAX_FAILURES));
  if (counted === breaker || counted.failures < limit) return counted;
  return { ...counted, openUntil: now + rule.cooldownMs, failedProbes: 0 };
}

function count(breaker: Breaker, { page, isRetry }: FailedPage): Breaker {
  if (isRetry || (page !== null && breaker.pages.includes(page))) return breaker;
  const pages = page === null || breaker.pages.length >= MAX_FAILURES ? breaker.pages : [...breaker.pages, page];
  return { ...breaker, failures: breaker.failures + 1, pages };
}
