/** How the operator's settings of a site change, and what follows for its work when it moves to another lane. */
import { OrbError } from "../../../base/errors.ts";
import { isGroupName, laneOfGroup, laneOfSite } from "../../../domain/lane/lane.ts";
import type { ServerLimits, SiteLimits, SiteRecord } from "../../records/site-records.ts";
import { refuseStale, siteVersion } from "../../versions.ts";
import { bumpControl, type Context, rows, stampIdleLane } from "../kernel/context.ts";
import { insertSite, laneId } from "../lanes/lane-assignments.ts";
import { forgetRest, STREAM_IS_OPEN, takeBack } from "../lanes/lanes.ts";
import { writeDeps } from "./site-deps.ts";
import { LANES_OF_HOME, noteShardsDue } from "../lanes/shards.ts";
import { readSite } from "./sites.ts";

const OF_SERVER: Readonly<Record<keyof ServerLimits, string>> = {
  maxConcurrency: "max_concurrency",
  requestsPerSecond: "requests_per_second",
  burst: "burst",
  minDelayMs: "min_delay_ms",
  paused: "paused",
};

const OF_SITE: Readonly<Record<Exclude<keyof SiteLimits, keyof ServerLimits | "group" | "dependsOn">, string>> = {
  maxMemoryMb: "max_memory_mb",
  strategy: "strategy",
  respectRobots: "respect_robots",
  shards: "shards",
};

/** What whoever joins a group takes from it. */
const LIMITS = Object.values(OF_SERVER)
  .filter((column) => column !== "paused")
  .join(", ");
const BREAKER = "breaker_open_until, breaker_failed_probes, breaker_failures, breaker_pages, last_failure";

export function setSite(context: Context, site: string, change: Partial<SiteLimits>, version?: string): SiteRecord {
  const { connection } = context;
  return connection.write(
    () => {
      const { group, dependsOn, ...values } = change;
      const known = connection.sql("SELECT lane FROM sites WHERE site = ?").get(site) as { lane: number } | undefined;
      const before = version === undefined ? null : readSite(context, site);
      if (before !== null) refuseStale("the site", siteVersion(before), version);
      let lane = known?.lane ?? insertSite(context, site, laneOfSite(site));
      // First the group: what is set together with it holds for all of the group.
      if (group !== undefined) lane = join(context, site, lane, group);
      for (const [name, value] of Object.entries(values)) setValue(context, site, lane, name, value);
      if (dependsOn !== undefined) writeDeps(context, site, dependsOn);
      if (change.paused === false || dependsOn !== undefined) stampIdleLane(context, lane);
      forgetRest(context, lane);
      bumpControl(context);
      refuseGroupOfShards(context, site);
      noteShardsDue(context, readSite(context, site) as SiteRecord);
      return readSite(context, site) as SiteRecord;
    },
    { durable: true },
  );
}

/** Sites of a group share one lane, with one budget that is counted in one place. */
function refuseGroupOfShards(context: Context, site: string): void {
  const { group, shards } = readSite(context, site) as SiteRecord;
  if (group === null || (shards ?? 1) <= 1) return;
  const message = `is ${shards}, but sites of a group (${group}) are one lane: take it out of the group, or give it one shard`;
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
  const ofServer = (OF_SERVER as Record<string, string>)[name];
  const ofSite = (OF_SITE as Record<string, string>)[name];
  if (ofServer !== undefined) connection.sql(`UPDATE sites SET ${ofServer} = ? WHERE lane = ?`).run(stored, lane);
  else if (ofSite !== undefined) connection.sql(`UPDATE sites SET ${ofSite} = ? WHERE site = ?`).run(stored, site);
  else throw new OrbError("input_invalid", `a site has no limit named ${name}`);
}

/** Puts a site into a group, or into a lane of its own again; returns the lane that it is in now. */
function join(context: Context, site: string, from: number, group: string | null): number {
  const { connection } = context;
  if (group !== null && !isGroupName(group)) {
    const message = "is not the name of a group: up to 100 letters, digits, dots, dashes and underscores";
    throw new OrbError("input_invalid", `group ${message}`, { fields: [{ path: "group", message }] });
  }
  const to = laneId(context, group === null ? laneOfSite(site) : laneOfGroup(group));
  connection.sql("UPDATE sites SET site_group = ? WHERE site = ?").run(group, site);
  if (to === from) return to;
  // The members are one server: who joins them is held to what holds for it. The first one brings its own.
  connection
    .sql(`UPDATE sites SET (${LIMITS}) = (SELECT ${LIMITS} FROM sites WHERE lane = ?1 LIMIT 1)
      WHERE site = ?2 AND EXISTS (SELECT 1 FROM sites WHERE lane = ?1)`)
    .run(to, site);
  connection
    .sql("UPDATE sites SET lane = ?, shard_count = 1, target_shard_count = 1, waiting = NULL WHERE site = ?")
    .run(to, site);
  // Nobody is asked again, by joining others, who was paused, had asked for patience or kept failing: then none of them is.
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
 * What had no work when the site moved stays behind, and follows when it gets some. Whoever owns the lane that was left may
 * have tasks of the site in hand: it loses the lane, and stops. They are ready again in the new one; none of them has
 * spent an attempt.
 */
function moveWork(context: Context, site: string, from: number, to: number): void {
  const { connection, leaseNow } = context;
  connection
    .sql(
      `UPDATE lanes SET owner = NULL, epoch = epoch + 1, lease_until = ? WHERE id IN ${LANES_OF_HOME} AND owner IS NOT NULL`,
    )
    .run(leaseNow(), from, from);
  const moved = rows<{ id: number; running: number }>(
    connection
      .sql(
        `UPDATE streams AS s SET lane = ? WHERE s.lane IN ${LANES_OF_HOME} AND s.site = ? AND ${STREAM_IS_OPEN} RETURNING id, running`,
      )
      .all(to, from, from, site),
  );
  takeBack(
    context,
    moved.filter(({ running }) => running > 0).map(({ id }) => id),
  );
  stampIdleLane(context, to);
}
