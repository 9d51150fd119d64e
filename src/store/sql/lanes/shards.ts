/** The lanes of a sharded site: which there are, how work is assigned to them, and when their number changes. */
import { laneOfShard } from "../../../domain/lane/lane.ts";
import { type Shard, shardsDue } from "../../../domain/lane/shards.ts";
import type { LaneHold } from "../../ports/port.ts";
import type { SiteRecord } from "../../records/site-records.ts";
import { bumpControl, type Context, rows, RUN_MAY_WORK, STATE, stampIdleLane } from "../kernel/context.ts";
import { changeAllCounters, type CounterChange } from "../kernel/counters.ts";
import { IS_FREE } from "./owner-rule.ts";

/** Lanes and sites are created by one transaction at a time: two that create the same ones would deadlock. */
export const NEW_LANES = "new lanes";

/** The lane of a stream `s` at site `p`. After a reduction of the shards, several streams share a lane. */
export const LANE_OF_STREAM = `coalesce((SELECT x.id FROM lanes x WHERE p.shard_count > 1 AND x.parent_lane = p.lane
  AND x.shard = s.shard % p.shard_count), p.lane, s.lane)`;

/** The site's own lane for any of its shard lanes; the parameter is the lane's number. */
export const PARENT_LANE_OF = "(SELECT coalesce(parent_lane, id) FROM lanes WHERE id = ?)";

/** All lanes of a site; both parameters are the number of its own lane. */
export const LANES_OF_PARENT = "(SELECT CAST(? AS BIGINT) UNION ALL SELECT id FROM lanes WHERE parent_lane = ?)";

/** All lanes of a site; the parameter is its name. */
export const LANES_OF_SITE = `(SELECT lane FROM sites WHERE site = ?1
  UNION ALL SELECT x.id FROM lanes x JOIN sites h ON h.lane = x.parent_lane WHERE h.site = ?1)`;

/**
 * While a site is resharded, a lane may be taken only when no other lane of the site has an owner. With the lane as
 * `l`, the site as `p`, and the time.
 */
export const MAY_BE_TAKEN = `(p.shard_count IS NULL OR p.shard_count = p.target_shard_count OR NOT EXISTS (SELECT 1 FROM lanes x
  WHERE (x.id = p.lane OR x.parent_lane = p.lane) AND x.id <> l.id AND x.owner IS NOT NULL AND x.lease_until >= ?))`;

/** Finds or creates the lane of a shard. */
export function shardLane(
  { connection, leaseNow }: Context,
  parentLane: number,
  site: string,
  shard: number,
): { id: number; lane: string } {
  const lane = laneOfShard(site, shard);
  const found = connection.sql("SELECT id FROM lanes WHERE lane = ?").get(lane) as { id: number } | undefined;
  if (found !== undefined) return { id: found.id, lane };
  connection.dialect.lockName(connection, NEW_LANES);
  const make =
    "INSERT INTO lanes (lane, lease_until, parent_lane, shard) VALUES (?, ?, ?, ?) ON CONFLICT (lane) DO NOTHING";
  connection.sql(make).run(lane, leaseNow(), parentLane, shard);
  const created = connection.sql("SELECT id FROM lanes WHERE lane = ?").get(lane) as { id: number };
  return { id: created.id, lane };
}

/**
 * Recomputes the number of shards after a change of its inputs. Owners are notified, finish and release their lanes.
 */
export function updateTargetShardCount(context: Context, site: SiteRecord): void {
  const due = shardsDue(site);
  if (due === site.targetShardCount) return;
  context.connection.sql("UPDATE sites SET target_shard_count = ? WHERE site = ?").run(due, site.site);
  bumpControl(context);
}

/** Whether another owner has a lane of the site: its running tasks end first. */
export function othersHaveLanes({ connection, leaseNow }: Context, parentLane: number, lane: number): boolean {
  const found = connection
    .sql(`SELECT 1 FROM lanes WHERE id IN ${LANES_OF_PARENT} AND id <> ? AND NOT ${IS_FREE} LIMIT 1`)
    .get(parentLane, parentLane, lane, leaseNow(), leaseNow());
  return found !== undefined;
}

/**
 * Reshards a site: moves whole streams, so the cost is bounded by the runs at the site. No process works on it now.
 * What the last owners left running is ready again. Returns the lanes that have work.
 */
export function reshard(context: Context, { site, targetShardCount }: SiteRecord, parentLane: number): string[] {
  const { connection, leaseNow } = context;
  connection.sql("UPDATE sites SET shard_count = target_shard_count, waiting = NULL WHERE site = ?").run(site);
  for (let shard = 1; shard < targetShardCount; shard += 1) shardLane(context, parentLane, site, shard);
  // An owner whose lease ended here must not write its remaining outcomes.
  connection
    .sql(
      `UPDATE lanes SET owner = NULL, epoch = epoch + 1, lease_until = ? WHERE id IN ${LANES_OF_PARENT} AND owner IS NOT NULL AND ${IS_FREE}`,
    )
    .run(leaseNow(), parentLane, parentLane, leaseNow(), leaseNow());
  connection
    .sql(
      `UPDATE streams AS s SET lane = (SELECT ${LANE_OF_STREAM} FROM sites p WHERE p.site = s.site)
       WHERE s.lane IN ${LANES_OF_PARENT} AND s.site = ? AND (s.queued > 0 OR s.running > 0 OR s.retrying > 0)`,
    )
    .run(parentLane, parentLane, site);
  const open = rows<{ id: number; lane: string }>(
    connection
      .sql(
        `SELECT DISTINCT l.id, l.lane FROM streams s JOIN lanes l ON l.id = s.lane
         WHERE s.lane IN ${LANES_OF_PARENT} AND (s.queued > 0 OR s.running > 0 OR s.retrying > 0)`,
      )
      .all(parentLane, parentLane),
  );
  for (const { id } of open) stampIdleLane(context, id);
  return open.map(({ lane }) => lane);
}

/** Tasks moved per transaction, at most. */
const MAX_MOVED = 500;

/** A stream that may give tasks away. */
interface SourceStream {
  id: number;
  run: number;
  site: string;
  resolver: string;
  auxiliary: number;
  queued: number;
}

/**
 * Tasks queued before the site was sharded, or requeued all at once, may be in one shard while others are idle: a shard
 * with more than its next claim moves some to shards with less than that. Returns their lanes.
 */
export function rebalanceShards(
  context: Context,
  hold: LaneHold & { shard: Shard },
  streams: readonly SourceStream[],
  keep: number,
  streamOf: (stream: SourceStream, lane: number, shard: number) => number,
): string[] {
  const { connection } = context;
  let surplus = streams.reduce((sum, { queued }) => sum + queued, 0) - keep;
  if (surplus <= 0) return [];
  const idle = siblings(context, hold).filter(({ ready }) => ready < keep);
  const changes = new Map<number, Required<Pick<CounterChange, "queued">>>();
  const count = (stream: number, queued: number) => {
    const change = changes.get(stream) ?? { queued: 0 };
    change.queued += queued;
    changes.set(stream, change);
  };
  const opened: string[] = [];
  const each = Math.floor(MAX_MOVED / Math.max(1, idle.length));
  for (const { id, lane, shard, ready } of idle) {
    let wanted = Math.min(surplus, each, keep - ready);
    for (const stream of streams) {
      const share = Math.min(wanted, stream.queued);
      if (share <= 0) continue;
      const to = streamOf(stream, id, shard);
      const moved = Number(
        connection
          .sql(
            `UPDATE tasks SET stream = ? WHERE id IN (SELECT id FROM tasks
             WHERE stream = ? AND state = ${STATE.queued} ORDER BY priority DESC, id LIMIT ?)`,
          )
          .run(to, stream.id, share).changes,
      );
      count(stream.id, -moved);
      count(to, moved);
      stream.queued -= moved;
      wanted -= moved;
      surplus -= moved;
    }
    stampIdleLane(context, id);
    opened.push(lane);
    if (surplus <= 0) break;
  }
  changeAllCounters(context, changes);
  return opened;
}

/** The other shards of a site, with their ready tasks. */
function siblings(
  { connection }: Context,
  { laneId, shard: { of } }: LaneHold & { shard: Shard },
): { id: number; lane: string; shard: number; ready: number }[] {
  const { home: parentLane } = connection
    .sql("SELECT coalesce(parent_lane, id) AS home FROM lanes WHERE id = ?")
    .get(laneId) as {
    home: number;
  };
  return rows(
    connection
      .sql(
        `SELECT l.id, l.lane, l.shard, coalesce((SELECT sum(s.queued) FROM streams s JOIN runs r ON r.n = s.run
           WHERE s.lane = l.id AND s.queued > 0 AND ${RUN_MAY_WORK}), 0) AS ready
         FROM lanes l WHERE l.id IN ${LANES_OF_PARENT} AND l.id <> ? AND l.shard < ? ORDER BY l.shard`,
      )
      .all(parentLane, parentLane, laneId, of),
  );
}
