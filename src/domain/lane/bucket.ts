/** A token bucket as plain data. A new owner starts with an empty one, so that taking over a lane causes no burst. */
export interface Bucket {
  /** Negative when tokens are reserved for future turns. */
  tokens: number;
  at: number;
}

interface BucketRule {
  perSecond: number;
  burst: number;
}

/** Timers are no more precise than this. */
const TIMER_SECONDS = 0.02;

/** Burst of a rate without a configured one: 1 up to 50 per second; above, single waits would never reach the rate. */
export function usualBurst(perSecond: number): number {
  return Math.max(1, Math.floor(perSecond * TIMER_SECONDS));
}

export function emptyBucket(now: number): Bucket {
  return { tokens: 0, at: now };
}

function refill(bucket: Bucket, rule: BucketRule, now: number): Bucket {
  const elapsed = Math.max(0, now - bucket.at);
  return { tokens: Math.min(Math.max(1, rule.burst), bucket.tokens + (elapsed * rule.perSecond) / 1000), at: now };
}

// Sums of fractions may end slightly below 1; without this a waiter could wait 0 ms forever.
const ALMOST_ONE = 1 - 1e-9;

/** Takes one token, or returns how many milliseconds to wait for it. */
export function takeToken(bucket: Bucket, rule: BucketRule, now: number): { bucket: Bucket; waitMs: number } {
  const filled = refill(bucket, rule, now);
  if (filled.tokens >= ALMOST_ONE) return { bucket: { tokens: Math.max(0, filled.tokens - 1), at: now }, waitMs: 0 };
  return { bucket: filled, waitMs: Math.max(1, Math.ceil(((1 - filled.tokens) * 1000) / rule.perSecond)) };
}

/** Takes one token even if it is only available after `waitMs`; later callers wait longer. */
export function reserveToken(bucket: Bucket, rule: BucketRule, now: number): { bucket: Bucket; waitMs: number } {
  const taken = takeToken(bucket, rule, now);
  return taken.waitMs === 0 ? taken : { ...taken, bucket: { ...taken.bucket, tokens: taken.bucket.tokens - 1 } };
}
