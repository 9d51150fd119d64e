/** Waits for the limits of a site: those it asks for and those configured for it. */
export const RATE_LIMIT_REASONS = ["rate_limited", "rate", "min_delay", "crawl_delay"] as const;
type RateLimitReason = (typeof RATE_LIMIT_REASONS)[number];

/** Upper bounds of a Prometheus histogram, in seconds. */
export const WAIT_BUCKETS_S = [0.1, 0.5, 1, 5, 15, 60, 300, 1800] as const;

export interface WaitCount {
  reason: RateLimitReason;
  count: number;
  sumMs: number;
  /** Cumulative counts, one per bound. */
  buckets: readonly number[];
}
