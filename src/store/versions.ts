/**
 * What tells one state of something from another, for those who change it after they have read it: a hash of what they can
 * change. What is saved again as it was is the same version.
 */
import { hash } from "node:crypto";
import { OrbError } from "../base/errors.ts";
import type { NewJob } from "./records/job-records.ts";
import type { SiteLimits } from "./records/site-records.ts";

function versionOf(value: unknown): string {
  return hash("sha256", JSON.stringify(value), "hex").slice(0, 16);
}

/** Whether its schedule is paused, and when it is due, is changed by other calls. */
export function jobVersion({ name, url, tags, recipe }: Pick<NewJob, "name" | "url" | "tags" | "recipe">): string {
  return versionOf([name, url, tags, recipe]);
}

/** Whether it is paused is changed by other calls, too. */
export function siteVersion(site: SiteLimits): string {
  const { maxConcurrency, requestsPerSecond, burst, minDelayMs, maxMemoryMb } = site;
  const { strategy, respectRobots, shards, group, dependsOn } = site;
  const limits = [maxConcurrency, requestsPerSecond, burst, minDelayMs, maxMemoryMb];
  return versionOf([...limits, strategy, respectRobots, shards ?? 1, group, dependsOn]);
}

/** Refuses a change of what is not any more as the caller has read it; without a version, every change is fine. */
export function refuseStale(what: string, present: string, expected: string | undefined): void {
  if (expected === undefined || expected === present) return;
  throw new OrbError("version_conflict", `${what} was changed since you read it: it has the version ${present} now`, {
    fields: [{ path: "version", message: `is ${present} now, and ${expected.slice(0, 100)} was given` }],
  });
}
