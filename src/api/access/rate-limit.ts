import type { Clock } from "../../base/clock.ts";
import type { Principal } from "../../domain/access/principal.ts";
import { ApiProblem } from "../problems.ts";

const MINUTE_MS = 60_000;
const MOST = 10_000;

/** Requests per minute of each key, in this process: a token bucket as large as a minute's requests. */
export class RateLimits {
  readonly #clock: Clock;
  readonly #buckets = new Map<string, { left: number; at: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Throws `rate_limited`. */
  take({ id, name, requestsPerMinute }: Principal): void {
    if (id === null || requestsPerMinute === null) return;
    const now = this.#clock.monotonic();
    const { left: before, at } = this.#buckets.get(id) ?? { left: requestsPerMinute, at: now };
    const left = Math.min(requestsPerMinute, before + ((now - at) / MINUTE_MS) * requestsPerMinute);
    this.#buckets.delete(id);
    this.#buckets.set(id, { left: left < 1 ? left : left - 1, at: now });
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > MOST && oldest !== undefined) this.#buckets.delete(oldest);
    if (left >= 1) return;
    const seconds = Math.ceil(((1 - left) * 60) / requestsPerMinute);
    throw new ApiProblem("rate_limited", `the key ${name} may make ${requestsPerMinute} requests per minute`, {
      headers: { "retry-after": String(Math.max(1, seconds)) },
    });
  }
}
