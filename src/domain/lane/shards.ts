/**
 * A site that is too large for one process is divided into shards: separate lanes, each with its share of the site's
 * limits. The shares add up to the limits, so they hold across machines without coordination.
 */
import { usualBurst } from "./bucket.ts";

export interface Shard {
  index: number;
  of: number;
}

/** Limits that can be divided among shards; null: not configured. */
interface DividedLimits {
  maxConcurrency: number | null;
  requestsPerSecond: number | null;
  burst: number | null;
}

/** The settings that decide whether a site may be sharded. */
export interface ShardedSite extends DividedLimits {
  shards: number | null;
  minDelayMs: number | null;
  crawlDelayMs: number | null;
  group: string | null;
}

/** Why a site cannot have this many shards, as a user-facing message; null: it can. */
export function whyNotDivided(site: ShardedSite): string | null {
  const shards = site.shards ?? 1;
  if (shards <= 1) return null;
  if (site.group !== null)
    return `the sites of a group share one lane: remove it from the group ${site.group} first, or set shards to 1`;
  // A delay applies between any two requests: shards without coordination cannot keep it.
  if (site.minDelayMs !== 0)
    return "a site with a delay between requests can have only one shard: set min_delay_ms to 0, or shards to 1";
  if ((site.crawlDelayMs ?? 0) > 0)
    return `the site's robots.txt sets a delay of ${site.crawlDelayMs} ms between requests, so the site can have only one shard`;
  if (shards > (site.maxConcurrency ?? 1))
    return `is more than max_concurrency (${site.maxConcurrency ?? 1}): every shard needs at least one concurrent request`;
  if (site.requestsPerSecond !== null && shards > burstOf(site))
    return `is more than burst (${burstOf(site)}): with requests_per_second, every shard needs a burst of at least 1`;
  return null;
}

function burstOf({ burst, requestsPerSecond }: DividedLimits): number {
  return burst ?? (requestsPerSecond === null ? 1 : usualBurst(requestsPerSecond));
}

/** The effective number of shards: as many as configured, or as the current limits allow. */
export function shardsDue(site: ShardedSite): number {
  const asked = site.shards ?? 1;
  const most = Math.min(
    asked,
    site.maxConcurrency ?? 1,
    site.requestsPerSecond === null ? Number.POSITIVE_INFINITY : burstOf(site),
  );
  const shards = Math.max(1, most);
  return whyNotDivided({ ...site, shards }) === null ? shards : 1;
}

/** One shard's part of a total number: the first shards get the remainder. */
export function shareOf(total: number, { index, of }: Shard): number {
  return Math.floor(total / of) + (index < total % of ? 1 : 0);
}

/** One shard's part of the limits. */
export function shareOfLimits<T extends DividedLimits>(limits: T, shard: Shard): T {
  const { maxConcurrency, requestsPerSecond, burst } = limits;
  return {
    ...limits,
    maxConcurrency: maxConcurrency === null ? null : shareOf(maxConcurrency, shard),
    requestsPerSecond: requestsPerSecond === null ? null : requestsPerSecond / shard.of,
    burst: burst === null ? null : shareOf(burst, shard),
  };
}

/** The shard of a task, by the hash of its key. */
export function shardOfKey(hash: Uint8Array, of: number): number {
  return of <= 1 ? 0 : new DataView(hash.buffer, hash.byteOffset).getUint32(0) % of;
}
