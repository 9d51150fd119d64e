/** A token bucket as plain data. A new owner starts it empty, so that taking a lane over never makes a burst. */
export interface Bucket {
  /** Below zero when some were taken for turns that are still to come. */
  tokens: number;
  at: number;
}

interface BucketRule {
  perSecond: number;
  burst: number;
}

/** What follows at once within a rate when nobody said: what comes in this time. Waits are no more exact than timers. */
const TIMER_SECONDS = 0.02;

/** One up to 50 a second; above, waiting for each by itself would never reach the rate that was asked for. */
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

// Sums of fractions may end a hair below 1; without this a waiter could be told to wait 0 ms for ever.
const ALMOST_ONE = 1 - 1e-9;

/** Takes one token, or says how many milliseconds to wait for it. */
export function takeToken(bucket: Bucket, rule: BucketRule, now: number): { bucket: Bucket; waitMs: number } {
  const filled = refill(bucket, rule, now);
  if (filled.tokens >= ALMOST_ONE) return { bucket: { tokens: Math.max(0, filled.tokens - 1), at: now }, waitMs: 0 };
  return { bucket: filled, waitMs: Math.max(1, Math.ceil(((1 - filled.tokens) * 1000) / rule.perSecond)) };
}

/** Takes one token, which may come later: then in how many milliseconds. Later callers wait longer for it. */
export function reserveToken(bucket: Bucket, rule: BucketRule, now: number): { bucket: Bucket; waitMs: number } {
  const taken = takeToken(bucket, rule, now);
  return taken.waitMs === 0 ? taken : { ...taken, bucket: { ...taken.bucket, tokens: taken.bucket.tokens - 1 } };
}
