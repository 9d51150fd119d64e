/** Changes the operator's settings of a site, and moves its work when its lane changes. */
import { logChange } from "../kernel/audit-entry.ts";
import { OrbError } from "../../../base/errors.ts";
import { isGroupName, laneOfGroup, laneOfSite } from "../../../domain/lane/lane.ts";
import type { ServerLimits, SiteLimits, SiteRecord } from "../../records/site-records.ts";
import { refuseStale, siteVersion } from "../../versions.ts";
import { bumpControl, type Context, rows, stampIdleLane } from "../kernel/context.ts";
import { insertSite, laneId } from "../lanes/lane-assignments.ts";
import { forgetRest, STREAM_IS_OPEN, requeueRunning } from "../lanes/lanes.ts";
import { writeDeps } from "./site-deps.ts";
import { LANES_OF_PARENT, updateTargetShardCount } from "../lanes/shards.ts";
import { readSite } from "./sites.ts";

const SERVER_COLUMNS: Readonly<Record<keyof ServerLimits, string>> = {
  maxConcurrency: "max_concurrency",
  requestsPerSecond: "requests_per_second",
  burst: "burst",
  minDelayMs: "min_delay_ms",
  paused: "paused",
};

const SITE_COLUMNS: Readonly<Record<Exclude<keyof SiteLimits, keyof ServerLimits | "group" | "dependsOn">, string>> = {
  maxMemoryMb: "max_memory_mb",
  strategy: "strategy",
  respectRobots: "respect_robots",
  shards: "shards",
};

/** Limits that a site takes over from its group. */
const LIMITS = Object.values(SERVER_COLUMNS)
  .filter((column) => column !== "paused")
  .join(", ");
const BREAKER = "breaker_open_until, breaker_failed_probes, breaker_failures, breaker_pages, last_failure";

export function setSite(context: Context, site: string, change: Partial<SiteLimits>, version?: string): SiteRecord {
  const { connection } = context;
  return connection.write(
    () => {
      const { group, dependsOn, ...values } = change;
      const known = connection.sql("SELECT lane FROM sites WHERE site = ?").get(site) as { lane: number } | undefined;
      const before = readSite(context, site);
      if (before !== null && version !== undefined) refuseStale("the site", siteVersion(before), version);
      let lane = known?.lane ?? insertSite(context, site, laneOfSite(site));
      // Group first: limits set in the same call apply to the whole group.
      if (group !== undefined) lane = joinGroup(context, site, lane, group);
      for (const [name, value] of Object.entries(values)) setValue(context, site, lane, name, value);
      if (dependsOn !== undefined) writeDeps(context, site, dependsOn);
      if (change.paused === false || dependsOn !== undefined) stampIdleLane(context, lane);
      forgetRest(context, lane);
      bumpControl(context);
      refuseGroupOfShards(context, site);
      updateTargetShardCount(context, readSite(context, site) as SiteRecord);
      const after = readSite(context, site) as SiteRecord;
      logChange(
        context,
        "site.updated",
        { kind: "site", id: site },
        { before: loggedSite(before, change), after: change },
      );
      return after;
    },
    { durable: true },
  );
}

/** Only the limits that the call sets. */
function loggedSite(before: SiteRecord | null, change: Partial<SiteLimits>): object {
  const values = (before ?? {}) as unknown as Record<string, unknown>;
  return Object.fromEntries(Object.keys(change).map((name) => [name, values[name] ?? null]));
}

/** Sites of a group share one lane, whose budget is counted in one place. */
function refuseGroupOfShards(context: Context, site: string): void {
  const { group, shards } = readSite(context, site) as SiteRecord;
  if (group === null || (shards ?? 1) <= 1) return;
  const message = `is ${shards}, but the sites of a group (${group}) share one lane: remove the site from the group, or set shards to 1`;
  throw new OrbError("input_invalid", `shards ${message}`, { fields: [{ path: "shards", message }] });
}

function setValue(
  { connection }: Context,
  site: string,
  lane: number,
  name: string,
  value: number | string | boolean | null,
): void {
  const stored = typeof value === "boolean" ? Number(value) : value;
  const serverColumn = (SERVER_COLUMNS as Record<string, string>)[name];
  const siteColumn = (SITE_COLUMNS as Record<string, string>)[name];
  if (serverColumn !== undefined)
    connection.sql(`UPDATE sites SET ${serverColumn} = ? WHERE lane = ?`).run(stored, lane);
  else if (siteColumn !== undefined)
    connection.sql(`UPDATE sites SET ${siteColumn} = ? WHERE site = ?`).run(stored, site);
  else throw new OrbError("input_invalid", `a site has no limit named ${name}`);
}

/** Moves a site into a group's lane, or back into its own; returns the new lane. */
function joinGroup(context: Context, site: string, from: number, group: string | null): number {
  const { connection } = context;
  if (group !== null && !isGroupName(group)) {
    const message = "must be 1 to 100 letters, digits, dots, dashes or underscores";
    throw new OrbError("input_invalid", `group ${message}`, { fields: [{ path: "group", message }] });
  }
  const to = laneId(context, group === null ? laneOfSite(site) : laneOfGroup(group));
  connection.sql("UPDATE sites SET site_group = ? WHERE site = ?").run(group, site);
  if (to === from) return to;
  // The members are one server: a new member takes over its limits. The first member brings its own.
  connection
    .sql(`UPDATE sites SET (${LIMITS}) = (SELECT ${LIMITS} FROM sites WHERE lane = ?1 LIMIT 1)
      WHERE site = ?2 AND EXISTS (SELECT 1 FROM sites WHERE lane = ?1)`)
    .run(to, site);
  connection
    .sql("UPDATE sites SET lane = ?, shard_count = 1, target_shard_count = 1, waiting = NULL WHERE site = ?")
    .run(to, site);
  // Joining must not bypass a pause, a hold or an open breaker: the strictest state applies to all members.
  connection
    .sql(
      `UPDATE sites SET (paused, hold_until, hold_step) =
           (SELECT max(paused), max(hold_until), max(hold_step) FROM sites WHERE lane = ?1),
         (${BREAKER}) = (SELECT ${BREAKER} FROM sites WHERE lane = ?1
           ORDER BY ${BREAKER.replaceAll(",", " DESC NULLS LAST,")} DESC NULLS LAST LIMIT 1) WHERE lane = ?1`,
    )
    .run(to);
  moveWork(context, site, from, to);
  return to;
}

/**
 * Streams without open work stay behind, and follow when they get some. The owner of the old lane may run tasks of the
 * site: it loses the lane, and stops. These tasks are ready again in the new lane, without a spent attempt.
 */
function moveWork(context: Context, site: string, from: number, to: number): void {
  const { connection, leaseNow } = context;
  connection
    .sql(
      `UPDATE lanes SET owner = NULL, epoch = epoch + 1, lease_until = ? WHERE id IN ${LANES_OF_PARENT} AND owner IS NOT NULL`,
    )
    .run(leaseNow(), from, from);
  const moved = rows<{ id: number; running: number }>(
    connection
      .sql(
        `UPDATE streams AS s SET lane = ? WHERE s.lane IN ${LANES_OF_PARENT} AND s.site = ? AND ${STREAM_IS_OPEN} RETURNING id, running`,
      )
      .all(to, from, from, site),
  );
  requeueRunning(
    context,
    moved.filter(({ running }) => running > 0).map(({ id }) => id),
  );
  stampIdleLane(context, to);
}
