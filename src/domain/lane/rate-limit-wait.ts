/** Waits for the limits of a site: those that it asked for, and those that were set for it. */
export const RATE_LIMIT_REASONS = ["rate_limited", "rate", "min_delay", "crawl_delay"] as const;
type RateLimitReason = (typeof RATE_LIMIT_REASONS)[number];

/** Upper bounds in seconds, as a histogram of Prometheus has them; beyond the last one is everything else. */
export const WAIT_BUCKETS_S = [0.1, 0.5, 1, 5, 15, 60, 300, 1800] as const;

export interface WaitCount {
  reason: RateLimitReason;
  count: number;
  sumMs: number;
  /** How many took at most as long as each bound says. */
  buckets: readonly number[];
}
