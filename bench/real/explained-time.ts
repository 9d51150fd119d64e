/** How long a crawl may take, given the server's faults. */
import { retryDelay } from "../../src/domain/lane/backoff.ts";
import type { ProxyRequest } from "./start-proxy.ts";

/** The defaults of `APP_RETRY_BASE_SECONDS`, `APP_RETRY_MAX_SECONDS` and of a crawl's `retry_attempts`. */
const RULE = { baseMs: 10_000, maxMs: 300_000 };
const RETRIES = 3;

/** Maximum time from a page's first request to its last, if it always answers 500. */
export const RETRY_SECONDS =
  Array.from({ length: RETRIES }, (_, index) => retryDelay(RULE, index + 1, { next: () => 1, uuid: () => "" })).reduce(
    (sum, ms) => sum + ms,
    0,
  ) / 1000;

const secondsSince = (start: number, at: number) => (at - start) / 1000;

/** Total time the site was rate limited: `Retry-After: 1`, possibly overlapping. */
export function secondsHeld(limits: readonly ProxyRequest[]): number {
  let held = 0;
  let until = 0;
  for (const at of limits.map((one) => one.at).toSorted((a, b) => a - b)) {
    held += at + 1000 - Math.max(at, until);
    until = at + 1000;
  }
  return held / 1000;
}

/** When the retries of the last discovered broken page end. */
export function endOfRetries(requests: readonly ProxyRequest[]): number {
  const start = Math.min(...requests.map(({ at }) => at));
  const first = new Map<string, number>();
  for (const { at, status, path } of requests) if (status === 500) first.set(path, Math.min(at, first.get(path) ?? at));
  return first.size === 0 ? 0 : secondsSince(start, Math.max(...first.values())) + RETRY_SECONDS;
}

/** When the last successful page was requested. */
export function lastGoodRequest(requests: readonly ProxyRequest[]): number {
  const start = Math.min(...requests.map(({ at }) => at));
  const good = requests.filter(({ status }) => status === 200);
  return secondsSince(
    start,
    good.reduce((last, { at }) => Math.max(last, at), start),
  );
}
