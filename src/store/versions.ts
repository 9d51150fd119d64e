/** A version for optimistic concurrency: a hash of the editable fields. Saving unchanged values keeps the version. */
import { hash } from "node:crypto";
import { OrbError } from "../base/errors.ts";
import type { NewJob } from "./records/job-records.ts";
import type { SiteLimits } from "./records/site-records.ts";

function versionOf(value: unknown): string {
  return hash("sha256", JSON.stringify(value), "hex").slice(0, 16);
}

/** Without schedule state, which other calls change. */
export function jobVersion({ name, url, tags, recipe }: Pick<NewJob, "name" | "url" | "tags" | "recipe">): string {
  return versionOf([name, url, tags, recipe]);
}

/** Without `paused`, which other calls change, too. */
export function siteVersion(site: SiteLimits): string {
  const { maxConcurrency, requestsPerSecond, burst, minDelayMs, maxMemoryMb } = site;
  const { strategy, respectRobots, shards, group, dependsOn } = site;
  const limits = [maxConcurrency, requestsPerSecond, burst, minDelayMs, maxMemoryMb];
  return versionOf([...limits, strategy, respectRobots, shards ?? 1, group, dependsOn]);
}

/** Throws `version_conflict` if the caller has read an older version; without a version, every change passes. */
export function refuseStale(what: string, current: string, expected: string | undefined): void {
  if (expected === undefined || expected === current) return;
  throw new OrbError("version_conflict", `${what} was changed since you read it: its version is now ${current}`, {
    fields: [{ path: "version", message: `is now ${current}, got ${expected.slice(0, 100)}` }],
  });
}
