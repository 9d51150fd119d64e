/** The lanes of a site whose work is divided: which there are, how its work gets into them, and when their number changes. */
import { laneOfShard } from "../../../domain/lane/lane.ts";
import { type Shard, shardsDue } from "../../../domain/lane/shards.ts";
import type { LaneHold } from "../../ports/port.ts";
import type { SiteRecord } from "../../records/site-records.ts";
import { bumpControl, type Context, rows, RUN_MAY_WORK, STATE, stampIdleLane } from "../kernel/context.ts";
import { changeAllCounters, type CounterChange } from "../kernel/counters.ts";

/** Where the work of a stream `s` at site `p` belongs. With fewer shards than there were, several streams are in one lane. */
export const LANE_OF_STREAM = `coalesce((SELECT x.id FROM lanes x WHERE p.shard_count > 1 AND x.parent_lane = p.lane
  AND x.shard = s.shard % p.shard_count), p.lane, s.lane)`;

/** The lane of the site, whichever of its shards a lane is; with the lane's number as a value. */
export const HOME_OF_LANE = "(SELECT coalesce(parent_lane, id) FROM lanes WHERE id = ?)";

/** All lanes of a site, with the number of its own lane as both values. */
export const LANES_OF_HOME = "(SELECT CAST(? AS BIGINT) UNION ALL SELECT id FROM lanes WHERE parent_lane = ?)";

/** All lanes of a site, with its name as both values. */
export const LANES_OF_SITE = `(SELECT lane FROM sites WHERE site = ?1
  UNION ALL SELECT x.id FROM lanes x JOIN sites h ON h.lane = x.parent_lane WHERE h.site = ?1)`;

/** While a site is divided anew, its lanes are taken only when nobody has one of them. With the lane as `l`, the site as `p`, and the time. */
export const MAY_BE_TAKEN = `(p.shard_count IS NULL OR p.shard_count = p.target_shard_count OR NOT EXISTS (SELECT 1 FROM lanes x
  WHERE (x.id = p.lane OR x.parent_lane = p.lane) AND x.id <> l.id AND x.owner IS NOT NULL AND x.lease_until >= ?))`;

/** Finds or makes the lane of a shard. */
export function shardLane(
  { connection, leaseNow }: Context,
  home: number,
  site: string,
  shard: number,
): { id: number; lane: string } {
  const lane = laneOfShard(site, shard);
  const found = connection.sql("SELECT id FROM lanes WHERE lane = ?").get(lane) as { id: number } | undefined;
  if (found !== undefined) return { id: found.id, lane };
  const made = connection
    .sql("INSERT INTO lanes (lane, lease_until, parent_lane, shard) VALUES (?, ?, ?, ?) RETURNING id")
    .get(lane, leaseNow(), home, shard) as { id: number };
  return { id: made.id, lane };
}

/** Something changed by which it is decided how many shards a site has. Owners hear of it, finish and give their lanes back. */
export function noteShardsDue(context: Context, site: SiteRecord): void {
  const due = shardsDue(site);
  if (due === site.targetShardCount) return;
  context.connection.sql("UPDATE sites SET target_shard_count = ? WHERE site = ?").run(due, site.site);
  bumpControl(context);
}

/** Whether somebody else has a lane of the site: then what it has under way ends first. */
export function othersHaveLanes({ connection, leaseNow }: Context, home: number, lane: number): boolean {
  const found = connection
    .sql(
      `SELECT 1 FROM lanes WHERE id IN ${LANES_OF_HOME} AND id <> ? AND owner IS NOT NULL AND lease_until >= ? LIMIT 1`,
    )
    .get(home, home, lane, leaseNow());
  return found !== undefined;
}

/**
 * Divides the work of a site anew: whole streams move, so that it costs no more than there are runs at the site. Nobody
 * works on it now. What the last owners left running is ready again. Returns the lanes that have work.
 */
export function divideAnew(context: Context, { site, targetShardCount }: SiteRecord, home: number): string[] {
  const { connection, leaseNow } = context;
  connection.sql("UPDATE sites SET shard_count = target_shard_count, waiting = NULL WHERE site = ?").run(site);
  for (let shard = 1; shard < targetShardCount; shard += 1) shardLane(context, home, site, shard);
  // Whoever let its lease end here must not write what it still has.
  connection
    .sql(
      `UPDATE lanes SET owner = NULL, epoch = epoch + 1, lease_until = ? WHERE id IN ${LANES_OF_HOME} AND owner IS NOT NULL AND lease_until < ?`,
    )
    .run(leaseNow(), home, home, leaseNow());
  connection
    .sql(
      `UPDATE streams AS s SET lane = (SELECT ${LANE_OF_STREAM} FROM sites p WHERE p.site = s.site)
       WHERE s.lane IN ${LANES_OF_HOME} AND s.site = ? AND (s.queued > 0 OR s.running > 0 OR s.retrying > 0)`,
    )
    .run(home, home, site);
  const open = rows<{ id: number; lane: string }>(
    connection
      .sql(
        `SELECT DISTINCT l.id, l.lane FROM streams s JOIN lanes l ON l.id = s.lane
         WHERE s.lane IN ${LANES_OF_HOME} AND (s.queued > 0 OR s.running > 0 OR s.retrying > 0)`,
      )
      .all(home, home),
  );
  for (const { id } of open) stampIdleLane(context, id);
  return open.map(({ lane }) => lane);
}

/** Tasks that are dealt out in one transaction, at most. */
const MOST_DEALT = 500;

/** A stream from which some may be dealt out. */
interface Giver {
  id: number;
  run: number;
  site: string;
  resolver: string;
  auxiliary: number;
  queued: number;
}

/**
 * What was queued before the site was divided, or came back all at once, may be in one shard while others have nothing
 * to do: whoever has more than it takes next gives some of it to those who have less than that. Returns their lanes.
 */
export function dealOut(
  context: Context,
  hold: LaneHold & { shard: Shard },
  streams: readonly Giver[],
  keep: number,
  streamOf: (stream: Giver, lane: number, shard: number) => number,
): string[] {
  const { connection } = context;
  let left = streams.reduce((sum, { queued }) => sum + queued, 0) - keep;
  if (left <= 0) return [];
  const poor = siblings(context, hold).filter(({ ready }) => ready < keep);
  const changes = new Map<number, Required<Pick<CounterChange, "queued">>>();
  const count = (stream: number, queued: number) => {
    const change = changes.get(stream) ?? { queued: 0 };
    change.queued += queued;
    changes.set(stream, change);
  };
  const opened: string[] = [];
  const each = Math.floor(MOST_DEALT / Math.max(1, poor.length));
  for (const { id, lane, shard, ready } of poor) {
    let wanted = Math.min(left, each, keep - ready);
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
      left -= moved;
    }
    stampIdleLane(context, id);
    opened.push(lane);
    if (left <= 0) break;
  }
  changeAllCounters(context, changes);
  return opened;
}

/** The other shards of a site, with what each has ready. */
function siblings(
  { connection }: Context,
  { laneId, shard: { of } }: LaneHold & { shard: Shard },
): { id: number; lane: string; shard: number; ready: number }[] {
  const { home } = connection.sql("SELECT coalesce(parent_lane, id) AS home FROM lanes WHERE id = ?").get(laneId) as {
    home: number;
  };
  return rows(
    connection
      .sql(
        `SELECT l.id, l.lane, l.shard, coalesce((SELECT sum(s.queued) FROM streams s JOIN runs r ON r.n = s.run
           WHERE s.lane = l.id AND s.queued > 0 AND ${RUN_MAY_WORK}), 0) AS ready
         FROM lanes l WHERE l.id IN ${LANES_OF_HOME} AND l.id <> ? AND l.shard < ? ORDER BY l.shard`,
      )
      .all(home, home, laneId, of),
  );
}
