import { RATE_LIMIT_REASONS, WAIT_BUCKETS_S, type WaitCount } from "../../domain/lane/rate-limit-wait.ts";

/** Histogram of the waits of this process for site limits, since it started; reasons without a wait count 0. */
export class RateLimitWaits {
  readonly #counts = RATE_LIMIT_REASONS.map((reason) => ({
    reason,
    count: 0,
    sumMs: 0,
    buckets: WAIT_BUCKETS_S.map(() => 0),
  }));

  add(reason: string, ms: number): void {
    const counts = this.#counts.find((one) => one.reason === reason);
    if (counts === undefined) return;
    counts.count += 1;
    counts.sumMs += ms;
    for (const [index, seconds] of WAIT_BUCKETS_S.entries())
      if (ms <= seconds * 1000) counts.buckets[index] = (counts.buckets[index] ?? 0) + 1;
  }

  read(): WaitCount[] {
    return this.#counts.map(({ sumMs, buckets, ...counts }) => {
      return { ...counts, sumMs: Math.round(sumMs), buckets: [...buckets] };
    });
  }
}
