import type { Random } from "../../base/random.ts";

export interface BackoffRule {
  baseMs: number;
  maxMs: number;
  /** Factor between two waits; default: 3. */
  factor?: number;
}

/**
 * Delay before the next attempt: base × factor^(attempt−1), at most `maxMs`, plus up to 10 % jitter, so that tasks that
 * failed together do not retry together. A longer Retry-After wins.
 */
export function retryDelay(rule: BackoffRule, attempt: number, random: Random, retryAfterMs = 0): number {
  const plain = Math.min(rule.maxMs, rule.baseMs * (rule.factor ?? 3) ** (Math.max(1, attempt) - 1));
  return Math.round(Math.max(plain * (1 + 0.1 * random.next()), retryAfterMs));
}

/**
 * How long a site is held after a rate limit without Retry-After: base, doubled each time until the site answers
 * normally.
 */
export function siteHold(rule: BackoffRule, step: number): number {
  return Math.min(rule.maxMs, rule.baseMs * 2 ** Math.min(30, Math.max(0, step)));
}
